"""The built-in model makes reminders and automations, and changes them over several turns, in English and German."""

from collections.abc import Callable

import pytest

from services.agent.automations.tools import make_tools as automation_tools
from services.agent.guests.tasks import GuestTasks
from services.agent.owners.domain import Me
from services.agent.tasks.both import AllTasks
from services.agent.tasks.kept import KeptTasks
from services.agent.tasks.tools import make_tools as task_tools
from services.agent.tools.domain import Tool
from tests.services.agent.builtin.conftest import Chat, Office

New = Callable[..., Chat]


@pytest.fixture
def reminding(office: Office) -> Office:
    tasks = AllTasks(KeptTasks(office.loop.db, lambda: None), GuestTasks(office.loop.visits))
    mine: tuple[Tool, ...] = (*task_tools(tasks), *automation_tools(office.loop.db, tasks, lambda: None))
    office.loop.tools = (*office.loop.tools, *mine)
    return office


async def test_a_reminder_is_made_shown_corrected_and_deleted(reminding: Office) -> None:
    mine = reminding.chat("member")
    made = await mine.say("remind me every Sunday at 7 to water the plants")
    assert mine.used == ["create_reminder"]
    assert "water the plants" in made and "every Sunday at 07:00 (Europe/Berlin)" in made and "no, at 8" in made
    assert made.count("\n- Sun ") == 5 and made.count(":00Z)") == 5 and made.count(":00:00Z)") == 5
    changed = await mine.say("no, at 8")
    assert mine.used == ["change_task"] and "every Sunday at 08:00" in changed
    assert "every Saturday at 08:00" in await mine.say("no, on Saturdays")
    assert "1. **water the plants** – every Saturday at 08:00 (Europe/Berlin); next Sat " in await mine.say("list my reminders")  # fmt: skip
    assert "Next comes **water the plants**" in await mine.say("what is next?")
    assert "Paused: “water the plants”" in await mine.say("pause it")
    assert "paused" in await mine.say("list my reminders")
    assert "every Saturday at 08:00" in await mine.say("resume it") and mine.used == ["resume_task"]
    assert "Deleted: “water the plants”" in await mine.say("delete it")
    assert "no reminders" in await mine.say("list my reminders")


async def test_what_comes_next_is_what_it_means_then(reminding: Office) -> None:
    mine = reminding.chat("member")
    for when, what in (("in two days at 8", "sow"), ("tomorrow at 8", "water"), ("in three days at 8", "reap")):
        await mine.say(f"remind me {when} to {what}")
    assert "Next comes **water**" in await mine.say("what comes next?")
    assert "Paused: “water”" in await mine.say("pause it")
    assert "Deleted: “" in await mine.say("delete the second") and mine.used == ["list_tasks", "delete_task"]


async def test_the_same_in_german(reminding: Office) -> None:
    mine = reminding.chat("viewer")
    made = await mine.say("Erinnere mich jeden Werktag um 7:30 an das Stand-up")
    assert "von Montag bis Freitag um 07:30 Uhr (Europe/Berlin)" in made and "Nächste Zeiten" in made
    assert "um 08:00 Uhr" in await mine.say("nein, um 8") and mine.used == ["change_task"]
    await mine.say("erinnere mich morgen um 20 Uhr an den Tee")
    listed = await mine.say("zeig meine Erinnerungen")
    assert "1. **" in listed and "2. **" in listed and "Stand-up" in listed and "Tee" in listed
    first, second = ("Stand-up", "Tee") if listed.index("Stand-up") < listed.index("Tee") else ("Tee", "Stand-up")
    assert f"Pausiert: „{second}" in await mine.say("pausiere die zweite")
    assert second in await mine.say("setze sie fort") and mine.used == ["resume_task"]
    assert f"Gelöscht: „{first}" in await mine.say("lösche die erste Erinnerung")
    assert "nichts verpasst" in await mine.say("Was habe ich verpasst?")


async def test_what_is_missing_is_asked_for(reminding: Office) -> None:
    mine = reminding.chat()
    assert "When shall I remind you?" in await mine.say("remind me to call Anna") and mine.used == []
    made = await mine.say("tomorrow at 8")
    assert mine.used == ["create_reminder"] and "call Anna" in made and "08:00" in made
    other = reminding.chat(me=mine.me)
    assert "Woran soll ich dich erinnern?" in await other.say("erinnere mich morgen um 9")
    assert "keine Erinnerung angelegt" in await other.say("vergiss es") and other.used == []
    assert "Woran soll ich dich erinnern?" in await other.say("erinnere mich morgen um 9")
    assert "den Müll rausbringen" in await other.say("den Müll rausbringen") and other.used == ["create_reminder"]


async def test_a_time_and_a_text_become_a_reminder_when_it_is_asked_for(reminding: Office) -> None:
    mine = reminding.chat()
    assert "Soll ich dich daran erinnern" in await mine.say("jeden Werktag um 7:30 die Blumen gießen")
    made = await mine.say("ja, erinnere mich")
    assert "„die Blumen gießen“ – von Montag bis Freitag um 07:30 Uhr" in made and mine.used == ["create_reminder"]


async def test_what_is_not_understood_is_refused_with_a_hint_and_can_be_said_anew(reminding: Office) -> None:
    mine = reminding.chat()
    assert "25:00 is no time of day" in await mine.say("remind me every day at 25:00 to sleep")
    made = await mine.say("no, every day at 23:00")
    assert mine.used == ["create_reminder"] and "“sleep” – every day at 23:00" in made
    assert "There is no 30 February" in await mine.say("remind me on 30 February to dance")
    assert "did not work" in await mine.say("remind me every blue moon to smile")
    assert "**sleep**" in (found := await mine.say("list my reminders")) and "2. " not in found


async def test_a_reminder_is_found_by_its_name_and_several_are_not_guessed(reminding: Office) -> None:
    mine = reminding.chat()
    await mine.say("remind me tomorrow at 8 to make tea")
    await mine.say("remind me tomorrow at 9 to make coffee")
    assert "tea" in await mine.say("pause the tea reminder") and mine.used == ["pause_task"]
    assert "coffee" in await mine.say("move the coffee reminder to 10") and "2 tasks fit" in await mine.say("delete the make reminder")  # fmt: skip
    assert "There is no such task" in await mine.say("delete the gardening reminder")
    assert "one at a time" in await mine.say("delete all my reminders") and mine.used == ["list_tasks"]


async def test_an_automation_waits_on_a_card_and_shows_when_it_would_run(reminding: Office) -> None:
    mine = reminding.chat("member")
    asked = await mine.say("every morning at 7 summarise my mails")
    assert mine.used == ["create_automation"] and "https://console/actions/1" in asked
    assert "“summarise my mails” – every day at 07:00" in asked and asked.count("Europe/Berlin = ") == 5
    (tool, arguments), *_ = reminding.loop.cards.asked
    assert tool == "create_automation" and arguments.instruction == "summarise my mails" and arguments.reads
    again = await mine.say("no, at 8")
    assert mine.used == ["create_automation"] and "every day at 08:00" in again
    german = await mine.say("fasse jeden Montag um 7 die Kommentare zusammen")
    assert "jeden Montag um 07:00 Uhr" in german and "Inhaber oder Admin" in german
    assert "no reminders" in await mine.say("list my automations"), "nothing is there before a person allowed it"


async def test_sc_01_rule_6_and_7_are_said_where_they_bite(reminding: Office) -> None:
    mine = reminding.chat()
    made = await mine.say("remind me on the 31st of every month at 8 to pay the rent")
    assert "on the 31st of every month at 08:00" in made and "it runs on the month's last day" in made


async def test_a_guest_has_reminders_while_here_and_no_automations(
    reminding: Office, new_guest: Callable[[], Me]
) -> None:
    mine = reminding.chat(me=new_guest())
    made = await mine.say("remind me in 20 minutes to stretch")
    assert "stretch" in made and "only while this page is open" in made
    assert "in 30" in (changed := await mine.say("no, in 30 minutes")) or "once on" in changed
    assert "Sign in" in await mine.say("every morning at 7 summarise my mails") and mine.used == []


async def test_in_a_conversation_that_read_untrusted_text_a_change_waits_and_a_reminder_carries_it(
    reminding: Office,
) -> None:
    """S11."""
    mine = reminding.chat()
    await mine.say("remind me tomorrow at 8 to make tea")
    await mine.say("show me the new comments")
    assert "https://console/actions/1" in await mine.say("delete the tea reminder") and mine.used == ["delete_task"]
    await mine.say("remind me tomorrow at 9 to answer the comments")
    assert mine.used == ["create_reminder"]
    other = reminding.chat(me=mine.me)
    await other.say("list my reminders")
    assert "https://console/actions/1" in await other.say("delete the tea reminder"), "its text may be theirs"
