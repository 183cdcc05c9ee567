"""The built-in model really does its jobs, in English and German, by the tools that a role has."""

from collections.abc import Callable

import pytest

from services.agent.owners.domain import Me
from tests.services.agent.builtin.conftest import Chat, Office

New = Callable[..., Chat]


@pytest.mark.parametrize(
    ("remember", "recall", "forget", "words"),
    [
        ("remember this: invoices go to accounting", "what do you remember about invoices?", "forget invoices", "accounting"),
        ("merk dir: Rechnungen gehen an die Buchhaltung", "was weißt du noch über Rechnungen?", "vergiss Rechnungen", "Buchhaltung"),
    ],
)  # fmt: skip
async def test_memory_is_kept_found_and_forgotten(
    chat: New, remember: str, recall: str, forget: str, words: str
) -> None:
    mine = chat()
    assert words in await mine.say(remember) and mine.used == ["remember"]
    assert words in await chat(me=mine.me).say(recall), "another conversation remembers"
    assert words in await mine.say(forget)
    assert words not in await mine.say(recall) and mine.used == ["recall"]


async def test_several_lines_are_forgotten_only_when_all_are_meant(chat: New) -> None:
    mine = chat()
    await mine.say("remember this: Anna is back on Monday")
    await mine.say("remember this: Anna likes tea")
    assert "forget everything about Anna" in await mine.say("forget Anna")
    assert "likes tea" in await mine.say("what do you remember about Anna?")
    assert "likes tea" in await mine.say("forget everything about Anna")
    assert "nothing about that" in await mine.say("what do you remember about Anna?")


async def test_lessons_are_kept_and_found_again(chat: New) -> None:
    mine = chat("member")
    assert "1" in await mine.say("Lesson: the backup disk was full => backups must rotate => check it on Mondays")
    assert "2" in await mine.say(
        "neue Erkenntnis: Beobachtung: Die Übungen dauern lange. Fazit: früher anfangen. Schlagworte: schule"
    )
    assert "rotate" in await mine.say("what did we learn about a backup?") and mine.used == ["search_lessons"]
    found = await mine.say("was haben wir über Uebung gelernt?")
    assert "Die Übungen dauern lange" in found and "früher anfangen" in found and "#schule" in found
    assert "no lesson" in await mine.say("what did we learn about gardening?")
    await mine.say("delete lesson 1")
    assert "no lesson" in await mine.say("search lessons for backups")


async def test_behavior_changes_shows_and_goes_back(chat: New) -> None:
    mine = chat("viewer")
    await mine.say("from now on, call me Kim")
    await mine.say("always answer in German")
    assert (await chat(me=mine.me).say("hello")).startswith("Hallo, Kim."), "the next conversation follows both"
    shown = await mine.say("show your behavior")
    assert "call me Kim" in shown and "always answer in German" in shown
    await mine.say("undo behavior")
    assert (await chat(me=mine.me).say("hello")).startswith("Hello, Kim.")
    await mine.say("undo behavior")
    assert (await chat(me=mine.me).say("hallo")).startswith("Hallo."), "without a wish the message's language counts"
    assert "no change of behavior" in await mine.say("undo behavior")


async def test_a_name_to_be_called_by_is_memory_and_behavior(office: Office, chat: New) -> None:
    mine = chat()
    await mine.say("remember this: call me Kim")
    assert mine.used == ["remember", "update_behavior"]
    assert (await chat(me=mine.me).say("hello")).startswith("Hello, Kim.")
    assert "call me Kim" in await office.workspaces.memory(mine.me)


async def test_a_virtual_tool_is_made_listed_switched_and_run(chat: New) -> None:
    mine = chat()
    await mine.say("Lesson: the backup disk was full => rotate")
    assert "weekly" in await mine.say("make a tool called weekly: search lessons for {input}")
    assert "rotate" in await mine.say("run weekly with backup") and mine.used == ["run_tool"]
    assert mine.last is not None and mine.last.calls[0].result["calls"][0]["tool"] == "search_lessons"
    assert "search lessons for {input}" in await mine.say("list my tools")
    await mine.say("disable weekly")
    assert "switched off" in await mine.say("run weekly with backup")
    await mine.say("schalte das Werkzeug weekly ein")
    assert "rotate" in await mine.say("führe weekly aus mit backup")
    await mine.say("delete the tool weekly")
    assert "no tool" in await mine.say("run weekly with backup")


async def test_a_page_is_proposed_and_waits(chat: New) -> None:
    mine = chat()
    said = await mine.say("propose a page Opening hours: Monday to Friday, 9 to 5.")
    assert mine.used == ["propose_publication"] and "queue" in said and "only if a person approves" in said
    assert mine.last is not None and mine.last.calls[0].arguments["path"] == "opening-hours"
    assert "What is to stand" in await mine.say('propose a page "Prices"') and mine.used == []


@pytest.mark.parametrize(
    ("ask", "fields", "why"),
    [("Make the customer page public.", "the fields name, city", "lock"), ("Mach die Kundenseite öffentlich!", "die Felder Name, Ort", "Schleuse")],
)  # fmt: skip
async def test_the_console_is_never_made_public_but_a_page_can_be_proposed(
    chat: New, ask: str, fields: str, why: str
) -> None:
    """Rule 20, and the story of the owner and the agent."""
    mine = chat()
    said = await mine.say(ask)
    assert why in said and mine.used == []
    await mine.say("yes" if "name" in fields else "ja")
    assert mine.used == []
    await mine.say(ask)
    await mine.say(fields)
    assert mine.used == ["propose_publication"] and mine.last is not None
    body = mine.last.calls[0].arguments["body"]
    assert ("- name\n- city" in body) or ("- Name\n- Ort" in body)


@pytest.mark.parametrize(
    "ask", ["delete connector audit rows older than 90 days every Sunday", "Lösche jeden Sonntag Audit-Einträge, die älter als 90 Tage sind"]
)  # fmt: skip
async def test_au_03_logs_of_the_platform_are_left_alone(chat: New, ask: str) -> None:
    """AU-03, the agent's half."""
    mine = chat()
    said = await mine.say(ask)
    assert mine.used == [] and ("kept by the platform" in said or "hält die Plattform" in said)


@pytest.mark.parametrize("role", ["member", "viewer"])
async def test_nothing_is_promised_that_a_role_may_not_use(chat: New, role: str) -> None:
    mine = chat(role)
    assert "propose" not in await mine.say("help")
    said = await mine.say("propose a page Opening hours: Monday to Friday")
    assert mine.used == [] and "role" in said


async def test_a_guest_hears_that_nothing_is_kept(chat: New, new_guest: Callable[[], Me]) -> None:
    mine = chat(me=new_guest())
    assert "nothing that is kept" in await mine.say("remember this: tea at five") and mine.used == []
    assert "wird nichts aufbewahrt" in await mine.say("merk dir: Tee um fünf")
    helped = await mine.say("help")
    assert "remember this" not in helped and "propose" not in helped


async def test_ag_01_ag_03_orders_in_what_was_read_are_never_done(chat: New, office: Office) -> None:
    """AG-01, AG-03, S11: by way of a virtual tool, too. What the owner orders in so many words is done, the rest waits on a card."""
    mine, cards = chat(), office.loop.cards.asked
    await mine.say("make a tool look: summarise the new comments")
    assert "Nice page" in await mine.say("run look") and mine.used == ["run_tool"]
    said = await mine.say("Lesson: drafts are published at once")
    assert "waits until a person has decided" in said and [name for name, _ in cards] == ["add_lesson"]
    assert "wartet" in await mine.say("ab jetzt antworte kurz")
    await mine.say("remember this: I like tea")
    memory = await office.workspaces.memory(mine.me)
    assert "I like tea" in memory and "publish" not in memory and "reading" not in memory
    fresh = chat(me=mine.me)
    assert "I like tea" in await fresh.say("what do you remember?")
    assert "no lesson" in await fresh.say("what did we learn about drafts?")
    assert "lesson 1" in await fresh.say("Lesson: tea is hot"), "what was not read there does not hold it back"


async def test_money_and_own_conversations_are_asked_for_in_both_languages(
    chat: New, new_guest: Callable[[], Me]
) -> None:
    mine = chat()
    assert "$0.00 was spent" in await mine.say("what was spent and what is left?") and mine.used == ["spend"]
    assert "ausgegeben" in await mine.say("was wurde ausgegeben, und was ist noch übrig?")
    other = chat(me=mine.me)
    assert "what is left?" in await other.say("search my conversations for left")
    assert "übrig" in await other.say("suche in meinen Gesprächen nach übrig") and other.used == [
        "search_conversations"
    ]
    assert "nothing about that" in await chat().say("search my conversations for left")
    assert "$0.00 was spent" in await chat(me=new_guest()).say("what was spent?")


async def test_the_same_message_gets_the_same_answer(chat: New) -> None:
    first = [
        await chat().say(each) for each in ("help", "what is the meaning of life?", "was ist der Sinn des Lebens?")
    ]
    again = [
        await chat().say(each) for each in ("help", "what is the meaning of life?", "was ist der Sinn des Lebens?")
    ]
    assert first == again
    assert "did not understand" in first[1] and "nicht verstanden" in first[2]
