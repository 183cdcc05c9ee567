"""What people are told of a proposal to the console. No framework."""

from schemas.console.v1 import ProposalAnswered

_WORDS = {
    "accepted": "was accepted",
    "refused": "was refused",
    "failed": "could not be carried out",
    "ended": "is over",
}
_JOB = {"accepted": "was switched on", "ended": "was switched off"}


def note_of(answered: ProposalAnswered, title: str, console_url: str) -> str:
    """What its conversation is told."""
    what, link = f"“{title}”", f"{console_url}/proposals/{answered.proposal_id}"
    if answered.state == "waiting":
        return _waiting(answered, what, link) if answered.about == "job" else ""
    words = _JOB.get(answered.state, "") if answered.about == "job" else ""
    because = f" Reason: {answered.reason}" if answered.reason else ""
    told = f"Your proposal {what} {words or _WORDS[answered.state]}.{because}"
    return told + (f" Next runs: {_times(answered)}." if answered.next and answered.state == "accepted" else "")


def _waiting(answered: ProposalAnswered, what: str, link: str) -> str:
    """The dry run of a cleanup job; figures that could not be had are said to be unknown (rule 30)."""
    found = "could not be counted" if answered.rows is None else f"{answered.rows:,} rows"
    size = "" if answered.bytes is None else f" ({answered.bytes:,} bytes)"
    undated = f" {answered.undated:,} rows have no date and stay." if answered.undated else ""
    when = f" {answered.understood}: {_times(answered)}." if answered.next else ""
    return (
        f"The dry run of {what}: {found}{size} would go now.{undated}{when}"
        f" Nothing is deleted before an owner or admin switches it on: {link}"
    )


def _times(answered: ProposalAnswered) -> str:
    return ", ".join(f"{each:%Y-%m-%d %H:%M} UTC" for each in answered.next)
