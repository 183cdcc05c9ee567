"""An opened secret, for the time of one call. Its value has no repr, no str, no pickle, and no place in any log."""

from dataclasses import dataclass, field

from schemas.outward import SecretPlace, SecretType


@dataclass(frozen=True)
class SecretValue:
    """`fields` as the type names them (shared.sealing); `label` is what the audit calls it: place and version."""

    place: SecretPlace
    type: SecretType
    version: int
    fields: dict[str, str] = field(repr=False)

    @property
    def label(self) -> str:
        return f"{self.place} v{self.version}"

    def __reduce__(self) -> str:
        raise TypeError("a secret is not written down")
