"""Virtual tools with a provider's model: their prompts are rows of the ledger tied to the turn (SP-07), and one that calls itself comes to an end."""

import json
from typing import Any

from tests.counterparts.scripted import Answer, Scripted
from tests.services.agent.builtin.conftest import Office
from tests.services.agent.loop.conftest import provided
from tests.services.agent.loop.test_providers import bill_equals, titled


def calls(tool: str, **arguments: Any) -> Answer:
    return Answer([], [("call_" + tool, tool, json.dumps(arguments))])


async def test_the_prompt_of_a_virtual_tool_is_paid_for_and_has_the_tools_of_the_role(office: Office) -> None:
    mine = office.chat("member")
    await mine.say("Lesson: the backup disk was full => rotate")
    await mine.say("make a tool called weekly: look for lessons about {input}")
    script = titled(
        calls("run_tool", name="weekly", input="backups"),
        calls("search_lessons", words="backup"),
        Answer(["Rotate ", "the disks."], read=20, written=9),
        Answer(["It says: ", "rotate."]),
    )
    async with provided(office.loop, Scripted(script=script)) as provider:
        assert await mine.say("what does my weekly tool say about backups?") == "It says: rotate."
        assert mine.last is not None and mine.used == ["run_tool"]
        result = mine.last.calls[0].result
        assert result["result"] == "Rotate the disks." and result["calls"][0]["tool"] == "search_lessons"
        rows = await office.loop.rows(mine.me, mine.last.turn_id)
        assert sorted(row["purpose"] for row in rows if row["purpose"] != "title") == ["reply", "reply", "tool", "tool"]
        await bill_equals(office.loop, mine.me, mine.last.turn_id, provider)
        nested = next(each for each in provider.asked if "look for lessons about backups" in str(each["messages"]))
        offered = {each["function"]["name"] for each in nested["tools"]}
        assert "search_lessons" in offered and not offered & {"make_tool", "delete_tool", "propose_publication"}


async def test_a_virtual_tool_that_calls_itself_is_told_so_and_the_turn_goes_on(office: Office) -> None:
    mine = office.chat()
    await mine.say("make a tool called again: run again with {input}")
    script = titled(
        calls("run_tool", name="again", input="x"),
        calls("run_tool", name="again", input="x"),
        Answer(["I ", "can't."]),
        Answer(["It ", "calls itself."]),
    )
    async with provided(office.loop, Scripted(script=script)):
        assert await mine.say("run it") == "It calls itself."
    assert mine.last is not None and mine.last.calls[0].result["calls"][0]["state"] == "refused"


async def test_the_built_in_model_stops_a_virtual_tool_that_calls_itself(office: Office) -> None:
    mine = office.chat()
    await mine.say("make a tool called again: run again with {input}")
    assert "calls itself" in await mine.say("run again with x") and mine.used == ["run_tool"]
