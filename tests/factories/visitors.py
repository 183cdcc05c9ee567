"""Visitors of the site, without JavaScript: pages, forms, the counting picture."""

import re
import weakref
from uuid import uuid4

import httpx2

from tests.factories.documents import Item
from tests.factories.stack import Stack

TOKEN = re.compile(r'name="token" value="([0-9a-f]+)"')


class Visitor:
    """One visitor: an address and a user agent are who the site takes him for."""

    def __init__(self, stack: Stack, agent: str = "") -> None:
        self.base = stack.urls["site"]
        agent = agent or f"visitor-{uuid4().hex[:8]}"
        self.http = httpx2.Client(base_url=self.base, timeout=30, headers={"User-Agent": agent})
        weakref.finalize(self, self.http.close)

    def get(self, path: str, **headers: str) -> httpx2.Response:
        return self.http.get(path, headers={name.replace("_", "-"): value for name, value in headers.items()})

    def sees(self, item: Item, text: str = "") -> bool:
        answer = self.get(item.url)
        return answer.status_code == 200 and text in answer.text

    def token(self, item: Item) -> str:
        found = TOKEN.search(self.get(item.url).text)
        assert found, f"{item.url} has no form"
        return found[1]

    def view(self, item: Item) -> httpx2.Response:
        return self.get(f"/s/{item.item_id}.gif")

    def vote(
        self, item: Item, value: int = 1, token: str = "", headers: dict[str, str] | None = None
    ) -> httpx2.Response:
        return self._send("vote", item, token, headers, value=str(value))

    def react(self, item: Item, reaction: str) -> httpx2.Response:
        return self._send("reaction", item, reaction=reaction)

    def say(self, item: Item, text: str) -> httpx2.Response:
        return self._send("feedback", item, text=text)

    def _send(
        self, what: str, item: Item, token: str = "", headers: dict[str, str] | None = None, **fields: str
    ) -> httpx2.Response:
        fields |= {"item_id": item.item_id, "token": token or self.token(item)}
        return self.http.post(f"/signals/{what}", data=fields, headers={"Origin": self.base, **(headers or {})})


def places(visitor: Visitor) -> dict[str, str]:
    """Everything that lists items, by name, as text."""
    return {name: visitor.get(path).text for name, path in LISTS.items()}


LISTS = {"index": "/", "section": "/page/en/", "kind": "/page/", "feed": "/feed.xml", "sitemap": "/sitemap.xml"}
