"""Every kind of connector, by name."""

from services.connectors.kinds.kind import Kind

KINDS: dict[str, Kind] = {}
