"""Every kind of connector, by name."""

from services.connectors.kinds.http import KIND as HTTP
from services.connectors.kinds.kind import Kind
from services.connectors.kinds.llm import KIND as LLM
from services.connectors.kinds.mail import KIND as MAIL

KINDS: dict[str, Kind] = {
    kind.name: kind
    for kind in (
        HTTP,
        LLM,
        MAIL,
    )
}
