"""What a mail connector is declared with: the servers that accounts may be at. Who signs in where stands in the accounts' secrets."""

from typing import Annotated

from pydantic import AfterValidator, Field

from services.connectors.egress.hosts import allow_list
from services.connectors.kinds.kind import KindSettings
from shared.errors import Refused

IMAPS, SUBMISSIONS = 993, 465


def both(hosts: tuple[str, ...]) -> tuple[str, ...]:
    """The allow-list: a host without a port stands for its IMAP and its submission port, both with TLS from the start."""
    return tuple(dict.fromkeys((*allow_list(hosts, IMAPS), *allow_list(hosts, SUBMISSIONS))))


def _readable(hosts: tuple[str, ...]) -> tuple[str, ...]:
    try:
        both(hosts)
    except Refused as error:
        raise ValueError(error.message) from None
    return hosts


class MailSettings(KindSettings):
    """`hosts`: mail servers, such as imap.example.org or smtp.example.org:587."""

    hosts: Annotated[tuple[str, ...], Field(min_length=1, max_length=100), AfterValidator(_readable)]
    retries: Annotated[int, Field(ge=0, le=5)] = 2
