"""Letters, accounts and names before anything is asked of a server (EM-02, EM-05; rules 14, 15)."""

from typing import Any
from uuid import uuid4

import pytest

from services.agent.mail.arguments import Attached, SaveArguments, SendArguments
from services.agent.mail.domain import MailAccount, chosen
from services.agent.mail.letters import answer_to, as_shown, attached, check_confirmed, recipients_of
from services.agent.mail.naming import place_for
from services.console.mail.domain import check_address, check_label, secret_name
from shared.errors import NotFound, Refused

LOOKALIKE, SHOWN = "b@exаmple.org", "b@xn--exmple-4nf.org"


def account(label: str, **more: Any) -> MailAccount:
    given: dict[str, Any] = {
        "connector": "mail",
        "secret": "s",
        "address": f"{label}@example.org",
        "reads": True,
        "sends": True,
    }
    return MailAccount(uuid4(), label, **(given | more))


def test_there_is_no_default_among_several_accounts() -> None:
    office, home = account("Office"), account("home", sends=False)
    assert chosen([office], "") is office and chosen([office, home], "OFFICE") is office
    assert chosen([office, home], "home@example.org") is home
    for wanted, error in (("", Refused), ("bank", NotFound)):
        with pytest.raises(error):
            chosen([office, home], wanted)
    with pytest.raises(Refused):
        chosen([office, home], "home", sending=True)
    with pytest.raises(NotFound):
        chosen([], "")


def test_everybody_whom_it_goes_to_stands_on_the_card_each_once() -> None:
    letter = SendArguments.model_validate(
        {
            "to": ["a@x.org", {"address": LOOKALIKE, "name": "B"}],
            "cc": ["c@x.org"],
            "bcc": ["a@x.org"],
            "reply_to": ["d@x.org"],
            "text": "",
        }
    )
    assert recipients_of(letter) == ("a@x.org", LOOKALIKE, "c@x.org", "d@x.org")
    assert as_shown(letter) == ("a@x.org", SHOWN, "c@x.org")
    assert as_shown(SendArguments(to=("a@x.org",), text="")) == ()


@pytest.mark.parametrize("said", ["", "yes", f"yes, send it to {LOOKALIKE}", "yes, send it to c@xn--exmple-4nf.org"])
def test_em_05_only_the_users_own_words_confirm_an_address_that_looks_like_another(said: str) -> None:
    letter = SendArguments(to=(LOOKALIKE, "plain@x.org"), text="", confirmed=(SHOWN, "plain@x.org"))
    with pytest.raises(Refused) as refused:
        check_confirmed(letter, said)
    assert refused.value.code == "confirm"
    check_confirmed(letter, f"Yes, send it to “{SHOWN.upper()}”.")


def test_em_02_an_answer_goes_back_in_one_line_and_to_whom_the_mail_says() -> None:
    told = {
        "subject": "Hi Bcc: other@example.org", "from": [{"name": "", "address": "a@x.org"}], "to": [{"address": "Me@x.org"}, {"address": "b@x.org"}],
        "cc": [{"address": "a@x.org"}], "reply_to": [], "message_id": "<1@x>", "references": "<0@x> junk <bad\u00e4@x>", "in_reply_to": "",
    }  # fmt: skip
    found = answer_to(told, "me@x.org")
    assert found == {
        "to": ["a@x.org"], "all": ["b@x.org"], "subject": "Re: Hi Bcc: other@example.org", "in_reply_to": "<1@x>", "references": ["<0@x>", "<1@x>"],
    }  # fmt: skip
    again = answer_to(
        told | {"subject": "AW: Hi", "reply_to": [{"address": "list@x.org"}], "message_id": "no id"}, "me@x.org"
    )
    assert (again["subject"], again["to"], again["in_reply_to"], again["references"]) == (
        "AW: Hi",
        ["list@x.org"],
        "",
        [],
    )


def test_a_file_is_sent_as_it_was_when_a_person_allowed_it() -> None:
    assert attached(Attached(path="a.txt"), "1" * 64).sha256 == "1" * 64
    with pytest.raises(Refused):
        attached(Attached(path="a.txt", sha256="0" * 64), "1" * 64)


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("Zahlen ü.csv", "mail/Zahlen ü.csv"), ("", "mail/attachment-2"), ("../.memory.md", "mail/attachment-2.md"), (".memory.md", "mail/attachment-2.md"),
        ("CON.txt", "mail/attachment-2.txt"), ("a/b.txt", "mail/attachment-2.txt"), ("pаypal.pdf", "mail/attachment-2.pdf"), ("x\u202efdp.exe", "mail/attachment-2.exe"),
        ("a" * 300 + ".txt", "mail/attachment-2.txt"), ("x\x00y.md", "mail/attachment-2.md"), ("report.", "mail/attachment-2"),
    ],
)  # fmt: skip
def test_an_attachments_name_is_a_wish_of_its_senders(name: str, kept: str) -> None:
    assert place_for(SaveArguments(uid=1, number=2), {"name": name}) == kept


def test_where_an_attachment_goes_is_what_was_asked_for() -> None:
    assert place_for(SaveArguments(uid=1, number=2, path="drafts/x.csv"), {"name": "a.csv"}) == "drafts/x.csv"
    assert place_for(SaveArguments(uid=1, number=2, path="drafts/"), {"name": "a.csv"}) == "drafts/a.csv"


@pytest.mark.parametrize("address", ["m@example.org", "änne@example.org", "info@bücher.example", "a+b@x.example.org"])
def test_an_address_of_an_account(address: str) -> None:
    assert check_address(f" {address} ") == address


@pytest.mark.parametrize("address", ["", "m", "m@localhost", "a@b@c.org", "a b@x.org", "a@x.org\nBcc: b@x.org", "a@x.org\u202e", "Name <a@x.org>", "a@x.org,b@x.org", "x" * 300 + "@x.org"])  # fmt: skip
def test_what_is_no_address_of_an_account(address: str) -> None:
    with pytest.raises(Refused):
        check_address(address)


def test_a_label_is_one_visible_line_and_its_secret_has_a_name_of_its_own() -> None:
    assert check_label("  Büro \n West ") == "Büro West"
    for wrong in ("", " ", "x" * 61, "a\x00b", "a\u200bb"):
        with pytest.raises(Refused):
            check_label(wrong)
    first, second = uuid4(), uuid4()
    assert (
        secret_name("Büro & Ämter!", first) == f"buero-aemter-{first.hex[-8:]}" != secret_name("Büro & Ämter!", second)
    )
    assert secret_name("邮件", first) == f"mail-{first.hex[-8:]}"
