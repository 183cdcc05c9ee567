"""The agent's settings as words and as values, what a delegation can name, and time zones."""

from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from schemas.agency import Access, AgentSetting, setting_fault
from schemas.operations import OPERATIONS
from schemas.outward import Owner
from services.agent.owners.domain import GUESTS
from services.agent.owners.rules import GUESTS_CAP, USERS_CAP, Rules
from services.agent.owners.usecases.keep_zone import unknown_zone
from services.agent.owners.usecases.record_access import check_life
from services.agent.owners.zones import is_zone
from services.connectors.kinds.registry import KINDS
from services.console.access.domain import Wanted, check_scope
from services.console.access.domain import check_life as check_wanted_life
from services.console.agency.domain import DEFAULTS, in_words
from services.console.delegations.domain import operations_of
from shared.clock import now
from shared.errors import BadSignature, Conflict, Refused, SchleuseError
from shared.ids import fresh_id

ID = "6f1d7d1e-5c1b-4e6a-9a53-736368657573"
ME = Owner(kind="user", id=ID)
GOOD = [
    ("cap", "users", "5.00"), ("cap", "guests", "0"), ("cap", "guests", "none"), ("cap", f"user:{ID}", ""), ("cap", f"user:{ID}", "0.000000000000000001"),
    ("model", "", ""), ("model", "", "llm/gpt-5-mini"), ("model", "", "llm/meta/llama-3.1:8b"), ("proposals", "", "on"), ("proposals", "", "off"),
]  # fmt: skip
BAD = [
    ("cap", "users", ""), ("cap", "users", "-1"), ("cap", "users", "+1"), ("cap", "users", "1e3"), ("cap", "users", "NaN"), ("cap", "users", "1,5"),
    ("cap", "users", "01"), ("cap", "users", ".5"), ("cap", "users", "5."), ("cap", "users", "5\n"), ("cap", "users", "9" * 13), ("cap", "users", "٥"),
    ("cap", "", "1"), ("cap", "somebody", "1"), ("cap", "user:7", "1"), ("cap", f"guest:{ID}", "1"), ("cap", f"user:{ID.upper()}", "1"),
    ("model", "users", ""), ("model", "", "gpt"), ("model", "", "/x"), ("model", "", "LLM/x"), ("model", "", "llm/a b"), ("model", "", "llm//x"),
    ("proposals", "", ""), ("proposals", "", "yes"), ("proposals", "users", "on"),
]  # fmt: skip


def setting(name: Any, subject: str, value: str, prior: int = 0) -> AgentSetting:
    return AgentSetting(
        key_id="k", name=name, subject=subject, value=value, decided_at=now(), decider="0" * 64, prior_version=prior
    )


@pytest.mark.parametrize(("name", "subject", "value"), GOOD)
def test_what_a_setting_can_be(name: Any, subject: str, value: str) -> None:
    assert setting_fault(name, subject, value) is None


@pytest.mark.parametrize(("name", "subject", "value"), BAD)
def test_what_a_setting_cannot_be(name: Any, subject: str, value: str) -> None:
    assert setting_fault(name, subject, value)
    with pytest.raises(Refused):
        Rules().check(setting(name, subject, value))


def test_as_installed_the_agent_holds_what_the_console_shows() -> None:
    rules = Rules()
    assert (rules.cap_of(ME), rules.cap_of(GUESTS), rules.model(), rules.may_propose()) == (
        USERS_CAP,
        GUESTS_CAP,
        None,
        True,
    )
    assert {
        ("cap", "users"): str(USERS_CAP),
        ("cap", "guests"): str(GUESTS_CAP),
        ("model", ""): "",
        ("proposals", ""): "on",
    } == DEFAULTS


def test_the_newest_word_counts_and_a_persons_own_before_everybodys() -> None:
    rules = Rules()
    for said in (
        setting("cap", "users", "2"),
        setting("cap", str(ME), "0"),
        setting("model", "", "llm/meta/llama"),
        setting("proposals", "", "off"),
    ):
        rules.check(said)
        rules.enter(said)
    assert (rules.cap_of(ME), rules.cap_of(Owner(kind="user", id=ID[:-1] + "4"))) == (Decimal(0), Decimal(2))
    assert rules.model() == ("llm", "meta/llama") and not rules.may_propose()
    with pytest.raises(Conflict):
        rules.check(setting("cap", "users", "3", 0))
    rules.enter(setting("cap", str(ME), "none", 1))
    assert rules.cap_of(ME) is None
    rules.enter(setting("cap", str(ME), "", 2))
    assert rules.cap_of(ME) == Decimal(2)
    assert rules.cap_of(Owner(kind="guest", id="guests-of-mine")) == Decimal(2), (
        "only the one account is that of all guests"
    )


@pytest.mark.parametrize(
    ("value", "words"),
    [("5", "$5.00 in 24 hours"), ("0.5", "$0.50 in 24 hours"), ("0.00000004", "$0.00000004 in 24 hours"), ("none", "no limit"), ("", "as everybody")],
)  # fmt: skip
def test_amounts_in_words(value: str, words: str) -> None:
    assert in_words("cap", value) == words


def test_what_a_delegation_can_name_is_what_the_connectors_can_do() -> None:
    assert {name: frozenset(each) for name, each in OPERATIONS.items()} == {
        name: kind.operations for name, kind in KINDS.items()
    }
    assert operations_of([("post", "mail"), ("old", "gone"), ("api", "llm")])[:2] == ("api.chat", "api.count_tokens")
    assert operations_of([]) == ("audit.search",)


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("Europe/Berlin", True), ("UTC", True), ("America/Argentina/Buenos_Aires", True), ("Etc/GMT+5", True), ("Asia/Kolkata", True),
        ("", False), ("Mars/Base", False), ("../etc/passwd", False), ("/etc/localtime", False), ("europe/berlin", False), ("Europe/Berlin\x00", False),
        ("Europe", False), ("posix/UTC", False), ("localtime", False), ("Factory", False), ("A" * 65, False), ("Europe/Berlin ", False),
    ],
)  # fmt: skip
def test_zones_are_iana_names(name: str, known: bool) -> None:
    assert is_zone(name) is known


def test_a_zone_that_there_is_none_of_is_replaced_and_said() -> None:
    assert unknown_zone("Mars/Base", "Europe/Berlin").name == "Europe/Berlin"
    assert unknown_zone("Mars/Base", "Gone/Zone").name == unknown_zone("x" * 500, None).name == "UTC"
    assert len(unknown_zone("x" * 500, None).notice) < 250


def _access(**changed: Any) -> Access:
    fields = {
        "access_id": fresh_id(),
        "kind": "token",
        "subject": fresh_id(),
        "person_name": "A",
        "name": "n",
        "role": "owner",
        "token_hash": "0" * 64,
    }
    return Access(key_id="k", made_by="Operator", issued_at=now(), version=1, **(fields | changed))


def test_a_token_lives_for_an_hour_at_most() -> None:
    check_life(_access(expires_at=now() + timedelta(minutes=59)))
    check_life(_access(kind="apikey"))
    for ends in (None, now() + timedelta(minutes=61)):
        with pytest.raises(BadSignature):
            check_life(_access(expires_at=ends))
    assert check_wanted_life(Wanted("token", "n")) == timedelta(hours=1)
    assert check_wanted_life(Wanted("apikey", "n")) is None


@pytest.mark.parametrize(
    "call",
    [
        lambda: check_wanted_life(Wanted("token", "n", life=timedelta(hours=1, seconds=1))),
        lambda: check_wanted_life(Wanted("token", "n", life=timedelta(0))),
        lambda: check_wanted_life(Wanted("apikey", "n", life=timedelta(days=4000))),
        lambda: check_scope("member", "admin"),
    ],
)
def test_a_key_that_nobody_may_have(call: Callable[[], object]) -> None:
    with pytest.raises(SchleuseError):
        call()
