"""Turns of one conversation come by two instances: one at a time, in their order, and whichever is killed (rule 4)."""

from concurrent.futures import ThreadPoolExecutor

import httpx2
import pytest

from tests.factories.people import become_owner
from tests.factories.stack import Stack
from tests.factories.waiting import until

pytestmark = [pytest.mark.stack, pytest.mark.long]
ROUNDS, AT_ONCE = 4, 8


def test_one_turn_at_a_time_whichever_instance_is_killed(cluster: Stack) -> None:
    owner = become_owner(cluster)
    key = cluster.ask("console", "access.create", kind="token", handle=owner.handle, seconds=900)["key"]
    base, named = cluster.urls["workspace"], {"Authorization": f"Bearer {key}"}

    def send(body: dict[str, object]) -> httpx2.Response:
        """Each over a connection of its own, so that it comes to either instance."""
        return httpx2.post(f"{base}/api/v1/turns", json=body, headers=named, timeout=30)

    until(lambda: httpx2.get(f"{base}/api/v1/me", headers=named).status_code == 200, 10, "the agent knows the key")
    chat = send({"text": "remember this: the first"}).json()["conversation_id"]
    accepted = 1
    for number in range(ROUNDS):
        part = ("agent", "agent-2")[number % 2]
        with ThreadPoolExecutor(AT_ONCE) as crowd:
            sent = list(crowd.map(lambda _: send({"text": "what do you remember?", "conversation_id": chat, "wait": False}), range(AT_ONCE)))  # fmt: skip
        accepted += sum(each.status_code < 300 for each in sent)
        cluster.back(part, cluster.kill(part), 60)
        until(lambda: cluster.value("agent", "SELECT count(*) FROM app.open_turn_owners") == 0, 20, "no turn is open")
    messages = httpx2.get(f"{base}/api/v1/conversations/{chat}/messages", params={"limit": 1000}, headers=named).json()
    order = [each["turn_id"] for each in messages]
    assert order == sorted(order, key=order.index), "turns do not mix"
    users = [each["turn_id"] for each in messages if each["part"] == "user"]
    assert users == [each["turn_id"] for each in messages if each["part"] == "reply"] and len(set(users)) == accepted
