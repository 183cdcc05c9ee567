"""Every kind of connector, by name."""

from services.connectors.kinds.http import KIND as HTTP
from services.connectors.kinds.kind import Kind

KINDS: dict[str, Kind] = {kind.name: kind for kind in (HTTP,)}
