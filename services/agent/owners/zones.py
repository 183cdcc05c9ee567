"""Time zones as browsers name them (rule 6). No framework."""

from shared.schedules.zones import is_zone

__all__ = ["UTC", "is_zone", "replaced"]

UTC = "UTC"


def replaced(name: str, kept: str | None) -> str:
    """What stands for a zone that there is none of: the account's last valid one, or UTC."""
    return kept if kept is not None and is_zone(kept) else UTC
