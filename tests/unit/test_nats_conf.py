"""nats.conf as data, however somebody laid it out: what a user may do cannot hide in the spelling."""

from pathlib import Path

import pytest

from infra.nats.config import Place, render
from infra.nats.topology import publish_rights
from infra.observe.nats_conf import accounts, parse, server
from schemas.catalogue import SERVICES

USERS = {name: f"U{name.upper()}" for name in (*SERVICES, "admin")}
PLACE = Place(4222, Path("/s/js"), Path("/s/ca.pem"), Path("/s/nats.key"))


def test_the_generated_file_holds_each_right_once() -> None:
    found = accounts(parse(render(PLACE, USERS)))
    mine = {right.rpartition(": ")[2] for name, right in found if name == "SITE" and "allow publish" in right}
    assert mine == set(publish_rights("site"))
    assert {name for name, _ in found} == {"HUB", *(service.upper() for service in SERVICES)}
    assert found["SITE", "user USITE"] == "nkey"


def test_settings_of_the_server_are_flat() -> None:
    found = server(parse(render(PLACE, USERS)))
    assert (found["listen"], found["jetstream sync_interval"], found["tls handshake_first"]) == (
        "127.0.0.1:4222",
        "always",
        "true",
    )


LAID_OUT_OTHERWISE = """
# a comment with { and "
accounts = {
  SITE: { // another
    users = [ {nkey = UX
       permissions = { publish = ["a.b", 'c.>'], subscribe: {deny: ">"} } }
      { user: "eve", password: "hidden" } ]
    imports: [ {stream: {account: HUB, subject: "to.site.>"}, prefix: x} ]
  }
}
port: 4222
"""


def test_other_spellings_are_read_alike_and_no_password_is_shown() -> None:
    conf = parse(LAID_OUT_OTHERWISE)
    found = accounts(conf)
    assert found["SITE", "UX allow publish: a.b"] == "yes"
    assert found["SITE", "UX allow publish: c.>"] == "yes"
    assert found["SITE", "UX deny subscribe: >"] == "yes"
    assert found["SITE", "import stream to.site.>"] == "from HUB, prefix x"
    assert found["SITE", "user eve"] == "password"
    assert found["SITE", "eve allow publish: everything (no rule)"] == "yes"
    assert "hidden" not in str(found)
    assert server(conf) == {"port": "4222"}


def test_an_empty_list_is_told_as_what_it_is_to_the_server() -> None:
    found = accounts(parse("accounts { A { users: [{ nkey: U, permissions: { publish: { allow: [] } } }] } }"))
    assert found["A", "U allow publish: everything (an empty list)"] == "yes"


@pytest.mark.parametrize("text", ["}", "accounts {} }", "a:"])
def test_what_cannot_be_read_is_said(text: str) -> None:
    with pytest.raises(ValueError, match=r"nats\.conf"):
        parse(text)
