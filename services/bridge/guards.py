"""What the database itself checks before it takes a row into `core`: triggers and their functions; each can run again."""

_DECISION = """
CREATE OR REPLACE FUNCTION core.check_decision() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog AS $$
DECLARE author text; stopped boolean; undone record;
BEGIN
  SELECT count(*) + (NEW.undoes IS NOT NULL)::int INTO NEW.round FROM core.decisions
    WHERE item_id = NEW.item_id AND revision = NEW.revision AND undoes IS NOT NULL;
  IF NEW.undoes IS NOT NULL THEN
    SELECT * INTO undone FROM core.decisions WHERE statement_hash = NEW.undoes;
    IF NOT FOUND OR (undone.item_id, undone.revision) <> (NEW.item_id, NEW.revision)
       OR undone.verdict NOT IN ('approve', 'reject', 'request_changes') THEN
      RAISE EXCEPTION 'only a verdict on the same revision is taken back' USING ERRCODE = '23514';
    END IF;
    IF EXISTS (SELECT FROM core.decisions WHERE item_id = NEW.item_id AND position > undone.position) THEN
      RAISE EXCEPTION 'something was decided since the verdict that is taken back' USING ERRCODE = '23514';
    END IF;
    IF NEW.verdict = 'undo' AND undone.at < clock_timestamp() - interval '10 minutes 5 seconds' THEN
      RAISE EXCEPTION 'a verdict of % can no longer be undone', undone.at USING ERRCODE = '23514';
    END IF;
    IF NEW.verdict = 'approve' AND (undone.verdict <> 'approve' OR EXISTS (
        SELECT FROM core.gate_log WHERE item_id = NEW.item_id AND kind = 'publication' AND statement = undone.statement)) THEN
      RAISE EXCEPTION 'only an approval that still waits for its time is replaced' USING ERRCODE = '23514';
    END IF;
  END IF;
  IF NEW.verdict <> 'approve' THEN RETURN NEW; END IF;
  SELECT submitted_by, blocked INTO author, stopped FROM core.revisions WHERE item_id = NEW.item_id AND revision = NEW.revision;
  IF stopped THEN RAISE EXCEPTION 'a revision that the lock stopped cannot be approved' USING ERRCODE = '23514'; END IF;
  IF 'on' = (SELECT value FROM core.switch_settings WHERE name = 'four_eyes' ORDER BY version DESC LIMIT 1)
     AND (author = NEW.person_id OR NEW.via = 'operator') THEN
    RAISE EXCEPTION 'four eyes: % may not approve this revision', NEW.person_id USING ERRCODE = '23514';
  END IF;
  RETURN NEW;
END $$"""
"""Ten minutes are the rule; the five seconds are for the way from the rule's check to this one."""

_CHAIN = """
CREATE OR REPLACE FUNCTION core.check_gate_entry() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog AS $$
DECLARE last record;
BEGIN
  SELECT seq, hash INTO last FROM core.gate_log ORDER BY seq DESC LIMIT 1;
  IF NEW.seq <> coalesce(last.seq, -1) + 1 OR NEW.previous <> coalesce(last.hash, repeat('0', 64)) THEN
    RAISE EXCEPTION 'the gate log continues after entry %, not with %', last.seq, NEW.seq USING ERRCODE = '23514';
  END IF;
  RETURN NEW;
END $$"""

CORE_SQL: list[str] = [
    _DECISION,
    "CREATE OR REPLACE TRIGGER check_decision BEFORE INSERT ON core.decisions FOR EACH ROW EXECUTE FUNCTION core.check_decision()",
    _CHAIN,
    "CREATE OR REPLACE TRIGGER check_gate_entry BEFORE INSERT ON core.gate_log FOR EACH ROW EXECUTE FUNCTION core.check_gate_entry()",
]
