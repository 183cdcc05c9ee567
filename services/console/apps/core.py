"""Schemas for apps: made by one function, as the console may make none in its database itself."""

OPEN = """
CREATE OR REPLACE FUNCTION core.open_app_schema(slug text, reader text) RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
DECLARE place text := 'app_' || replace(slug, '-', '_');
BEGIN
  IF slug !~ '^[a-z][a-z0-9-]{0,39}$' OR (reader <> '' AND reader !~ '^app_[0-9]{2}$') THEN
    RAISE EXCEPTION 'no app is called %', slug USING ERRCODE = '22023';
  END IF;
  EXECUTE format('CREATE SCHEMA IF NOT EXISTS %I', place);
  EXECUTE format('GRANT USAGE, CREATE ON SCHEMA %I TO console', place);
  IF reader <> '' THEN EXECUTE format('GRANT USAGE ON SCHEMA %I TO %I', place, reader); END IF;
END $$
"""
"""`reader`: the role of the app's code, or nothing. Apps' roles may use nothing in `core`, so they cannot call it."""
CORE_SQL: list[str] = [OPEN]
