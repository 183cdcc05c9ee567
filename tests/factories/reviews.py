"""Deciding in the console's pages, as a browser does it: with what the page showed."""

import re
from dataclasses import dataclass

import httpx2

from tests.factories.documents import Item
from tests.factories.people import Person

FIELDS = ("revision", "version", "hash")


@dataclass(frozen=True)
class Seen:
    """What one reviewer's open page says about an item; a decision is sent with exactly this."""

    person: Person
    item: Item
    fields: dict[str, str]

    def decide(self, verdict: str, reason: str = "", **more: str) -> httpx2.Response:
        where = f"/queue/{self.item.item_id}/decide"
        fields = {**self.fields, "verdict": verdict, "reason": reason, **more}
        return self.person.http.post(where, data=fields, headers={"Origin": self.person.base})


def look(person: Person, item: Item) -> Seen:
    """Open the item's page."""
    text = person.page(f"/queue/{item.item_id}").text
    fields = {}
    for name in ("token", *FIELDS):
        found = re.search(rf'name="{name}" value="([^"]*)"', text)
        assert found, f"the page of {item.path} has no field {name}: {text[-1500:]}"
        fields[name] = found[1]
    return Seen(person, item, fields)
