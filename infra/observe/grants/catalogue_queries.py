"""What is asked of Postgres, as the superuser. Each row is (what, value) or (what, grantee, privilege, columns).

Object owners' own privileges go without saying; PUBLIC is a grantee like any other. `*` marks a privilege that may be passed on.
"""
# statements are composed of constants of ours
# ruff: noqa: S608

_SCHEMAS = "n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname !~ '^pg_(toast|temp)'"
_WHO = "coalesce(g.rolname, 'PUBLIC')"
_WHAT = "privilege_type || CASE WHEN is_grantable THEN '*' ELSE '' END"

ROLES = """
SELECT rolname, concat_ws(' ', CASE WHEN rolcanlogin THEN 'login' ELSE 'nologin' END, CASE WHEN rolsuper THEN 'superuser' END,
  CASE WHEN rolcreaterole THEN 'createrole' END, CASE WHEN rolcreatedb THEN 'createdb' END, CASE WHEN rolreplication THEN 'replication' END,
  CASE WHEN rolbypassrls THEN 'bypassrls' END, CASE WHEN rolpassword IS NOT NULL THEN 'with a password' END,
  CASE WHEN rolconnlimit >= 0 THEN rolconnlimit || ' connections' END) FROM pg_authid WHERE rolname !~ '^pg_'"""
MEMBERS = """
SELECT m.rolname, r.rolname || CASE WHEN admin_option THEN ' with admin option' ELSE '' END FROM pg_auth_members a
  JOIN pg_roles m ON m.oid = a.member JOIN pg_roles r ON r.oid = a.roleid WHERE m.rolname !~ '^pg_'"""
SETTINGS = """
SELECT coalesce(rolname, 'every role') || CASE WHEN datname IS NULL THEN '' ELSE ' in ' || datname END, unnest(setconfig) FROM pg_db_role_setting
  LEFT JOIN pg_roles r ON r.oid = setrole LEFT JOIN pg_database d ON d.oid = setdatabase"""
DATABASES = "SELECT datname, pg_get_userbyid(datdba) FROM pg_database WHERE datallowconn"
DATABASE_GRANTS = f"""
SELECT datname, {_WHO}, {_WHAT}, '' FROM pg_database, aclexplode(coalesce(datacl, acldefault('d', datdba))) a
  LEFT JOIN pg_roles g ON g.oid = a.grantee WHERE datallowconn AND a.grantee <> datdba"""
PARAMETERS = f"SELECT parname, {_WHO}, {_WHAT}, '' FROM pg_parameter_acl, aclexplode(paracl) a LEFT JOIN pg_roles g ON g.oid = a.grantee"
TABLESPACES = "SELECT spcname, pg_get_userbyid(spcowner) || ' ' || coalesce(spcacl::text, '') FROM pg_tablespace"
LOGIN_RULES = """SELECT line_number, concat_ws(' ', type, array_to_string(database, ','), array_to_string(user_name, ','), address, auth_method,
  array_to_string(options, ','), error) FROM pg_hba_file_rules ORDER BY line_number"""
LOGIN_MAPS = "SELECT map_name, sys_name, pg_username FROM pg_ident_file_mappings ORDER BY line_number"

SCHEMAS = f"SELECT nspname, pg_get_userbyid(nspowner) FROM pg_namespace n WHERE {_SCHEMAS}"
SCHEMA_GRANTS = f"""
SELECT nspname, {_WHO}, {_WHAT}, '' FROM pg_namespace n, aclexplode(coalesce(nspacl, acldefault('n', nspowner))) a
  LEFT JOIN pg_roles g ON g.oid = a.grantee WHERE {_SCHEMAS} AND a.grantee <> nspowner"""
RELATIONS = f"""
SELECT n.nspname || '.' || c.relname, CASE relkind WHEN 'r' THEN 'table' WHEN 'p' THEN 'table' WHEN 'v' THEN 'view' WHEN 'm' THEN 'view' WHEN 'S' THEN 'sequence'
    ELSE 'foreign table' END, pg_get_userbyid(c.relowner) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE {_SCHEMAS} AND relkind IN ('r', 'p', 'v', 'm', 'S', 'f') AND NOT (relkind = 'S' AND relacl IS NULL AND EXISTS (SELECT FROM pg_depend d JOIN pg_class t ON t.oid = d.refobjid
    WHERE d.objid = c.oid AND d.deptype IN ('a', 'i') AND t.relowner = c.relowner))"""
"""A sequence goes with its table, unless somebody else holds something on it."""
RELATION_GRANTS = f"""
SELECT n.nspname || '.' || relname, {_WHO}, {_WHAT}, '' FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace,
    aclexplode(relacl) a LEFT JOIN pg_roles g ON g.oid = a.grantee WHERE {_SCHEMAS} AND a.grantee <> relowner
UNION ALL SELECT n.nspname || '.' || relname, {_WHO}, {_WHAT}, attname FROM pg_attribute JOIN pg_class c ON c.oid = attrelid
    JOIN pg_namespace n ON n.oid = relnamespace, aclexplode(attacl) a LEFT JOIN pg_roles g ON g.oid = a.grantee
  WHERE {_SCHEMAS} AND attnum > 0 AND NOT attisdropped AND a.grantee <> relowner"""
FUNCTIONS = f"""
SELECT n.nspname || '.' || proname || '(' || pg_get_function_identity_arguments(p.oid) || ')', pg_get_userbyid(proowner)
  || CASE WHEN prosecdef THEN ', with its owner''s rights' ELSE '' END FROM pg_proc p JOIN pg_namespace n ON n.oid = pronamespace WHERE {_SCHEMAS}"""
FUNCTION_GRANTS = f"""
SELECT n.nspname || '.' || proname || '(' || pg_get_function_identity_arguments(p.oid) || ')', {_WHO}, {_WHAT}, '' FROM pg_proc p
  JOIN pg_namespace n ON n.oid = pronamespace, aclexplode(coalesce(proacl, acldefault('f', proowner))) a LEFT JOIN pg_roles g ON g.oid = a.grantee
  WHERE {_SCHEMAS} AND a.grantee <> proowner"""
POLICIES = f"""
SELECT n.nspname || '.' || relname, concat_ws(' ', CASE WHEN relrowsecurity THEN 'on' END, CASE WHEN relforcerowsecurity THEN 'forced' END,
    (SELECT string_agg(polname, ', ' ORDER BY polname) FROM pg_policy WHERE polrelid = c.oid)) FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace
  WHERE {_SCHEMAS} AND n.nspname <> 'core' AND relkind IN ('r', 'p') AND (relrowsecurity OR relforcerowsecurity OR EXISTS (SELECT FROM pg_policy WHERE polrelid = c.oid))"""
DEFAULTS = f"""
SELECT 'what ' || pg_get_userbyid(defaclrole) || ' makes' || CASE WHEN defaclnamespace = 0 THEN '' ELSE ' in ' || defaclnamespace::regnamespace END
  || ', type ' || defaclobjtype::text, {_WHO}, {_WHAT}, '' FROM pg_default_acl, aclexplode(defaclacl) a LEFT JOIN pg_roles g ON g.oid = a.grantee WHERE a.grantee <> defaclrole"""
ADDITIONS = """
SELECT 'extension ' || extname, pg_get_userbyid(extowner) FROM pg_extension
UNION ALL SELECT 'foreign server ' || srvname, pg_get_userbyid(srvowner) FROM pg_foreign_server
UNION ALL SELECT 'event trigger ' || evtname, pg_get_userbyid(evtowner) FROM pg_event_trigger
UNION ALL SELECT 'publication ' || pubname, pg_get_userbyid(pubowner) FROM pg_publication
UNION ALL SELECT 'large object ' || oid, pg_get_userbyid(lomowner) FROM pg_largeobject_metadata
UNION ALL SELECT 'language ' || lanname, 'trusted: ' || lanpltrusted || coalesce(', granted ' || lanacl::text, '') FROM pg_language"""
SYSTEM = """
SELECT 'function ' || p.oid::regprocedure, proacl::text FROM pg_proc p LEFT JOIN pg_init_privs i ON i.objoid = p.oid AND i.classoid = 'pg_proc'::regclass
  WHERE pronamespace = 'pg_catalog'::regnamespace AND proacl IS DISTINCT FROM i.initprivs
UNION ALL SELECT 'table ' || c.oid::regclass, coalesce(relacl::text, 'nobody') FROM pg_class c LEFT JOIN pg_init_privs i
  ON i.objoid = c.oid AND i.classoid = 'pg_class'::regclass AND i.objsubid = 0
  WHERE relnamespace = 'pg_catalog'::regnamespace AND relkind IN ('r', 'v') AND relacl IS DISTINCT FROM i.initprivs"""
"""System functions and tables whose privileges are not those of a fresh cluster."""
