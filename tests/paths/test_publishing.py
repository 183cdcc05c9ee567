"""The main story: a document is handed in, waits, is decided on, is public, and what visitors do comes back."""

from pathlib import Path
from uuid import uuid4

import pytest

from tests.factories.documents import Item, decide, listed, submit
from tests.factories.people import Person
from tests.factories.stack import Stack
from tests.factories.visitors import Visitor, places
from tests.factories.waiting import stays, until

pytestmark = pytest.mark.stack


def words(what: str = "story") -> str:
    return f"{what}{uuid4().hex[:10]}"


def test_a_document_goes_out_through_the_lock_and_a_vote_comes_back(
    stack: Stack, visitor: Visitor, tmp_path: Path
) -> None:
    word = words()
    (tmp_path / f"{word}.md").write_text(f"# A {word}\n\nRead **this**.\n")
    [one] = stack.cli("publish", str(tmp_path / f"{word}.md"), "--kind", "page", "--lang", "en")["items"]
    item = Item(one["item_id"], "page", "en", one["path"])
    [row] = [
        row for row in stack.cli("items", "list", "--status", "submitted")["items"] if row["item_id"] == item.item_id
    ]
    assert row["path"] == word
    assert visitor.get(item.url).status_code == 404
    assert stack.cli("items", "decide", item.item_id, "--verdict", "approve") == {"decided": 1, "refused": []}
    until(lambda: visitor.sees(item, word), 5)
    until(lambda: listed(stack, item)["state"] == "published", 5)
    until(lambda: all(word in text for text in places(visitor).values()), 5, "in every list")
    assert word in visitor.get(f"/search?q={word}").text
    before = stack.settled_totals()
    assert visitor.view(item).status_code == 200
    assert visitor.vote(item).status_code in (200, 303)
    assert visitor.react(item, "clear").status_code in (200, 303)
    assert visitor.say(item, "<script>alert(1)</script> gut").status_code in (200, 303)
    wanted = {name: count + 1 for name, count in before.items()}
    assert set(wanted) == {"view", "vote", "reaction", "feedback"}
    until(lambda: stack.totals() == wanted, 20, f"totals become {wanted}", 0.1)
    assert stack.cli("signals", "totals") == wanted


def test_the_same_words_again_are_no_new_revision(stack: Stack) -> None:
    text = f"# Same {words()}\n\nAgain.\n"
    item = submit(stack, text)
    again = submit(stack, text, name=item.path)
    assert again.item_id == item.item_id
    assert stack.value("bridge", f"SELECT count(*) FROM core.revisions WHERE item_id = '{item.item_id}'") == 1


def test_a_second_revision_waits_and_then_replaces_the_first(stack: Stack, visitor: Visitor) -> None:
    old, new = words("old"), words("new")
    item = submit(stack, f"# Page\n\n{old}\n")
    decide(stack, item)
    until(lambda: visitor.sees(item, old), 5)
    etag = visitor.get(item.url).headers["etag"]
    assert visitor.get(item.url, If_None_Match=etag).status_code == 304
    submit(stack, f"# Page\n\n{new}\n", name=item.path)
    assert visitor.sees(item, old) and not visitor.sees(item, new)
    decide(stack, item)
    until(lambda: visitor.sees(item, new), 5)
    assert not visitor.sees(item, old)
    assert visitor.get(item.url, If_None_Match=etag).status_code == 200
    states = f"SELECT revision, state FROM app.revisions WHERE item_id = '{item.item_id}' ORDER BY 1"
    until(lambda: [row["state"] for row in stack.rows("console", states)] == ["superseded", "published"], 5)


@pytest.mark.parametrize(("verdict", "state"), [("reject", "rejected"), ("request_changes", "changes_requested")])
def test_what_was_not_approved_never_becomes_public(stack: Stack, visitor: Visitor, verdict: str, state: str) -> None:
    word = words("never")
    item = submit(stack, f"# {word}\n\nno\n")
    decide(stack, item, verdict, "not like this")
    until(lambda: listed(stack, item)["state"] == state, 5)
    unknown = visitor.get(f"/page/en/{words('wrong')}")
    stays(lambda: visitor.get(item.url).status_code == 404, 0.5, "it is public")
    assert visitor.get(item.url).text.replace(item.path, "") == unknown.text.replace(
        unknown.url.path.rsplit("/", 1)[-1], ""
    )
    assert not any(word in text for text in places(visitor).values())


def test_a_verdict_against_needs_a_reason(stack: Stack) -> None:
    item = submit(stack, f"# {words()}\n\nx\n")
    done = stack.run("items", "decide", item.item_id, "--verdict", "reject", "--json")
    assert "eason" in done.stdout + done.stderr
    assert listed(stack, item)["state"] == "submitted"


def test_rule_20_what_the_agent_proposes_waits_for_a_person(stack: Stack, visitor: Visitor) -> None:
    path, word = words("proposal"), words("said")
    args = {"kind": "page", "lang": "en", "path": path, "source": f"# Proposal\n\n{word}\n"}
    found = stack.ask("agent", "items.propose", **args)
    rows = until(lambda: [row for row in stack.items() if row["item_id"] == found["item_id"]], 10)
    assert rows[0]["state"] == "submitted"
    assert visitor.get(f"/page/en/{path}").status_code == 404
    stack.ask("console", "items.decide", items=[found["item_id"]], verdict="approve")
    until(lambda: word in visitor.get(f"/page/en/{path}").text, 5)


def test_an_audited_call_reaches_the_consoles_audit(stack: Stack, owner: Person) -> None:
    target = words("host")
    stack.ask("connectors", "calls.record", target=target)
    until(lambda: target in owner.page("/audit").text, 10, "the call is in the audit view")


def test_trace_tells_the_whole_story_in_order(stack: Stack, visitor: Visitor) -> None:
    item = submit(stack, f"# {words()}\n\ntraced\n")
    decide(stack, item)
    until(lambda: visitor.sees(item), 5)
    wanted = ["item.submitted", "item.queued", "item.decided", "item.published", "item.applied"]

    def hops() -> list[str]:
        return [hop["event"] for hop in stack.cli("trace", item.item_id)["hops"]]

    found = until(lambda: (names := hops()) and set(wanted) <= set(names) and names, 15, "every hop is told", 0.2)
    firsts = [found.index(name) for name in wanted]
    assert firsts == sorted(firsts), found
    hops_ = stack.cli("trace", item.item_id)["hops"]
    assert {"bridge", "console", "site"} <= {hop["service"] for hop in hops_}
    assert all(hop["at"] for hop in hops_)
    assert all(hop["ms"] is None or hop["ms"] >= 0 for hop in hops_)


def test_the_readable_trace_names_the_services(stack: Stack) -> None:
    item = submit(stack, f"# {words()}\n\ntraced\n")
    done = stack.run("trace", item.item_id)
    assert done.returncode == 0
    assert "item.queued" in done.stdout


def test_the_decision_is_one_trace_over_all_hops(stack: Stack, visitor: Visitor) -> None:
    item = submit(stack, f"# {words()}\n\none trace\n")
    decide(stack, item)
    until(lambda: visitor.sees(item), 5)
    text = "SELECT convert_from(body, 'UTF8')::json->>'traceparent' AS t FROM app.outbox WHERE about = '{}' AND name = '{}'"
    decided = stack.value("console", text.format(item.item_id, "item.decided"))
    published = stack.value("bridge", text.format(item.item_id, "item.published"))
    assert decided.split("-")[1] == published.split("-")[1]


def test_publishing_a_folder_keeps_its_paths(stack: Stack, tmp_path: Path) -> None:
    root, word = tmp_path / "docs", words("dir")
    (root / "sub").mkdir(parents=True)
    (root / f"{word}.md").write_text("# One\n\nsee [two](sub/two.md)\n")
    (root / "sub" / f"{word}-two.md").write_text("# Two\n\nback\n")
    found = stack.cli("publish", str(root), "--kind", "report", "--lang", "pt-BR")
    assert found["submitted"] == 2
    assert {each["path"] for each in found["items"]} == {word, f"sub/{word}-two"}
