"""Jobs, dry runs and runs as plain JSON, for the operator and for programs."""

from typing import Any

from services.console.jobs.domain import Row, read_job
from services.console.jobs.rows.domain import words_of
from shared.errors import Refused


def told_job(row: Row) -> dict[str, Any]:
    try:
        job = read_job(row["job"])
        about = {"conditions": [words_of(each) for each in job.conditions], "schedule": job.schedule, "zone": job.zone}
    except Refused as fault:
        about = {"conditions": [], "schedule": "", "zone": "", "fault": fault.message}
    names = ("name", "state", "reason", "job_hash", "owner_name", "made_by", "set_by", "last_state", "last_deleted")
    told = {"job": str(row["job_id"]), "app": row["app_slug"], "table": row["table_name"]}
    told |= {name: row[name] for name in names} | about
    times = {name: _iso(row[name]) for name in ("next_at", "set_at", "last_at", "made_at")}
    return told | times | {"proposal": row["proposal_id"] and str(row["proposal_id"]), "dry_run": told_dry_run(row)}


def told_dry_run(row: Row) -> dict[str, Any]:
    """Figures that could not be had are null (rule 30)."""
    names = ("rows", "bytes", "undated", "referenced", "keys_hash")
    return {name: row[name] for name in names} | {"as_of": _iso(row["as_of"]), "error": row["dry_error"] or ""}


def told_run(row: Row) -> dict[str, Any]:
    names = ("name", "how", "state", "app_slug", "table_name", "by_name", "found", "deleted", "bytes", "undated", "referenced", "restored", "in_trash", "output", "error")  # fmt: skip
    times = {name: _iso(row[name]) for name in ("nominal_at", "started_at", "ended_at", "until")}
    return {"run": str(row["run_id"]), "job": str(row["job_id"])} | {name: row[name] for name in names} | times


def _iso(at: Any) -> str | None:
    return None if at is None else at.isoformat()
