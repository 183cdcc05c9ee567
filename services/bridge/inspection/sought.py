"""What can be looked for in a text now, and the findings that say why something cannot."""

from dataclasses import dataclass

from schemas.bridge.v1 import Finding
from services.bridge.inspection.checks import internal
from services.bridge.inspection.columns import Columns
from services.bridge.inspection.known import Known


@dataclass(frozen=True)
class Sought:
    """What can be looked for now: sets that count, or why there are none. `columns` is None where there is no console that has any."""

    secrets: Known | str
    columns: Columns | str | None

    @property
    def why(self) -> str:
        return next((each for each in (self.secrets, self.columns) if isinstance(each, str)), "")

    @property
    def name(self) -> str:
        return "+".join(each.name for each in (self.secrets, self.columns) if isinstance(each, Known | Columns))

    def unknown(self) -> list[Finding]:
        secrets = [_unknown(self.secrets)] if isinstance(self.secrets, str) else []
        return secrets + ([_columns_unknown(self.columns)] if isinstance(self.columns, str) else [])


def _unknown(why: str) -> Finding:
    return block(
        "secrets_unknown",
        f"The lock cannot tell whether this holds one of our own secrets: {why}. Nothing passes until the connectors run; then try again",
    )


def _columns_unknown(why: str) -> Finding:
    message = f"Internal values could not be looked for: {why}. They are before an approval; until then none passes"
    return Finding(level="check", rule="columns_unknown", message=message[:500])


def refusal(finding: Finding) -> str:
    if finding.rule != internal.RULE:
        return finding.message
    place = f" (line {finding.line})" if finding.line else ""
    said = f"Since it was inspected, something in it has become internal: {finding.message}{place}. Hand it in again to see it as it is now"
    return said[:500]


def block(rule: str, message: str) -> Finding:
    return Finding(level="block", rule=rule, message=message)
