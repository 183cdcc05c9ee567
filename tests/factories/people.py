"""People at the console, without a browser: cookies, form tokens, roles."""

import re
import weakref
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import httpx2

from tests.factories.stack import Stack

PASSWORD = "correct-Schleuse-7-gate"
OWNER = "owner@example.org"
TOKEN = re.compile(r'name="token" value="([0-9a-f]+)"')
INVITATION = re.compile(r"https?://[^\s\"<]+/invitation/[A-Za-z0-9_\-]+")


@dataclass
class Person:
    """One browser of one person. `page` and `send` speak HTML; a form's token is taken from a page of the same session."""

    base: str
    handle: str = ""
    id: str = ""
    http: httpx2.Client = field(init=False)

    def __post_init__(self) -> None:
        self.http = httpx2.Client(base_url=self.base, timeout=30)
        weakref.finalize(self, self.http.close)

    def page(self, path: str, **query: Any) -> httpx2.Response:
        return self.http.get(path, params=query or None)

    def token_on(self, path: str) -> str:
        found = TOKEN.search(self.http.get(path).text)
        assert found, f"{path} has no form"
        return found[1]

    def send(self, where: str, shown_on: str = "/queue", /, *, follow: bool = False, **fields: Any) -> httpx2.Response:
        """Post a form that was shown on a page."""
        fields = {"token": self.token_on(shown_on), **fields}
        return self.http.post(where, data=fields, headers={"Origin": self.base}, follow_redirects=follow)

    def sign_in(self, password: str = PASSWORD) -> httpx2.Response:
        return self.send("/sign-in", "/sign-in", handle=self.handle, password=password)

    def is_in(self) -> bool:
        return self.page("/queue").status_code == 200

    def invite(self, role: str, name: str = "", handle: str = "") -> str:
        """The path of a new invitation; only an owner can."""
        shown = self.send("/people/invitations", "/people", role=role, name=name, handle=handle)
        link = INVITATION.search(shown.text)
        assert link, shown.text[:2000]
        return link[0].removeprefix(self.base)

    def add(self, role: str, name: str = "") -> "Person":
        """A new person with that role, signed in by an invitation; only an owner can."""
        handle = f"{role}-{uuid4().hex[:8]}"
        person, path = Person(self.base, handle), self.invite(role)
        named = name or f"{role.title()} {handle[-4:]}"
        joined = person.send(path, path, name=named, handle=handle, password=PASSWORD, again=PASSWORD)
        assert joined.status_code == 303, joined.text[-1500:]
        return person

    def api_token(self, role: str) -> str:
        """A fresh API token of this person with at most that role."""
        shown = self.send("/me/tokens", "/me", name=f"test {uuid4().hex[:6]}", role=role)
        found = re.search(r"schl_[A-Za-z0-9_\-]{20,}", shown.text) or re.search(
            r"<code[^>]*>([A-Za-z0-9_\-]{32,})</code>", shown.text
        )
        assert found, shown.text[-3000:]
        return found[found.lastindex or 0]


def become_owner(stack: Stack) -> Person:
    """The first owner by the one-time link; signs in when there is one already."""
    owner = Person(stack.urls["console"], OWNER)
    path = (stack.owner_link or "").removeprefix(owner.base)
    if not path or owner.page(path).status_code == 404:
        assert owner.sign_in().status_code == 303
        return owner
    answer = owner.send(path, path, name="Ada Owner", handle=OWNER, password=PASSWORD, again=PASSWORD)
    assert answer.status_code == 303, answer.text[-2000:]
    return owner
