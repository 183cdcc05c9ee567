"""Downloads by nginx and curl: what is registered comes, with ranges and its name, and nothing else does (rules 14, 24; FI-01, FI-05, FI-07)."""

import hashlib
import os
import signal
import subprocess
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit
from uuid import uuid4

import httpx2
import pytest

from infra.cli.access import make_access
from schemas.outward import Owner
from services.agent.memory.domain import folder_of
from tests.factories.edge import Gate
from tests.factories.people import OWNER, PASSWORD, Person
from tests.factories.stack import Stack, apart
from tests.factories.waiting import until

pytestmark = pytest.mark.stack


@dataclass
class Own:
    """A person with a workspace, at nginx and past it."""

    gate: Gate
    stack: Stack
    key: str
    home: Path

    @property
    def me(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.key}"}

    def put(self, name: str, content: bytes = b"hello") -> Path:
        """A file of theirs, as the agent's own user."""
        path = self.home / name
        path.write_bytes(content)
        self.give(path)
        return path

    def give(self, path: Path) -> None:
        facts = self.stack.layout.workspace.stat()
        os.chown(path, facts.st_uid, facts.st_gid, follow_symlinks=False)
        if not path.is_symlink():
            path.chmod(0o700 if path.is_dir() else 0o600)

    def api(self, method: str, path: str, **more: Any) -> httpx2.Response:
        return self.gate.client("workspace", headers=self.me).request(method, f"/api/v1{path}", **more)

    def link(self, path: str, **more: Any) -> dict[str, Any]:
        answer = self.api("POST", "/downloads", json={"path": path, **more})
        assert answer.status_code == 201, answer.text
        found: dict[str, Any] = answer.json()
        return found

    def curl(self, url: str, *options: str, key: bool = True) -> tuple[int, dict[str, str], bytes]:
        """(status, headers by lower-case name, body) as curl has it, through nginx."""
        parts = urlsplit(url)
        known = ["-H", f"Authorization: Bearer {self.key}"] if key else []
        named = ["--cacert", str(self.gate.home / "edge.pem"), "--resolve", f"{parts.netloc}:127.0.0.1"]
        done = subprocess.run(
            ["curl", "-s", "--path-as-is", "--http1.1", "-o", "-", "-D", "/dev/stderr", *named, *known, *options, url],
            capture_output=True, check=False,
        )  # fmt: skip
        first, *lines = done.stderr.decode("latin-1").strip().split("\r\n")
        headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
        assert sum(line.lower().startswith("content-disposition:") for line in lines) <= 1, lines
        return int(first.split()[1]), headers, done.stdout

    def past(self, url: str, **more: Any) -> httpx2.Response:
        """The same link at the agent itself, without nginx."""
        parts = urlsplit(url)
        here = f"http://127.0.0.2:{self.stack.ports()['workspace']}{parts.path}" + (
            f"?{parts.query}" if parts.query else ""
        )
        headers = {"Host": parts.netloc, **more.pop("headers", self.me)}
        return httpx2.get(here, headers=headers, timeout=60, **more)


def rss(stack: Stack) -> int:
    """Bytes of the agent's memory."""
    text = Path(f"/proc/{stack.pids()['agent']}/status").read_text()
    return int(text.split("VmRSS:")[1].split()[0]) * 1024


@pytest.fixture(scope="module")
def own(fronted: tuple[Gate, Stack], boss: Person) -> Iterator[Own]:
    gate, stack = fronted
    key = apart(lambda: make_access(stack.state, "token", OWNER, "test"))["key"]
    person = stack.ask("console", "people.find", handle=OWNER)["id"]
    home = stack.layout.workspace / folder_of(Owner(kind="user", id=person))
    found = Own(gate, stack, key, home)
    if not home.exists():
        home.mkdir(mode=0o700)
        found.give(home)
    yield found


def test_fi_07_parts_of_a_file(own: Own) -> None:
    content = bytes(range(256)) * 2 + b"0123456789abcd"
    file = own.put("part.bin", content)
    url = own.link("part.bin")["url"]
    status, headers, body = own.curl(url)
    assert (status, body, headers["accept-ranges"]) == (200, content, "bytes")
    status, headers, body = own.curl(url, "-r", "-1000")
    assert (status, headers["content-range"], body) == (206, "bytes 0-525/526", content)
    status, _, body = own.curl(url, "-H", "Range: bytes=5-4")
    assert status in (400, 416) or body == content
    status, headers, _ = own.curl(url, "-r", "600-")
    assert (status, headers["content-range"]) == (416, "bytes */526")
    many = ",".join(f"{at}-{at}" for at in range(0, 400, 2))
    status, _, body = own.curl(url, "-r", many)
    assert status == 416 or (status, body) == (200, content)
    status, headers, body = own.curl(url, "-r", "100-199")
    assert (status, body) == (206, content[100:200])
    tag = headers["etag"]
    assert own.curl(url, "-r", "100-199", "-H", f"If-Range: {tag}")[0] == 206
    answers = [own.past(url, headers=own.me | {"Range": each}) for each in ("bytes=-1000", "bytes=5-4", "bytes=600-", f"bytes={many}", "bytes=100-199")]  # fmt: skip
    assert [each.status_code for each in answers] == [206, 200, 416, 200, 206], "and without nginx"
    assert [answers[at].headers["content-range"] for at in (0, 2)] == ["bytes 0-525/526", "bytes */526"]
    assert answers[1].content == answers[3].content == content and answers[4].content == content[100:200]
    before = file.stat()
    own.put("part.bin", content[::-1])
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns + 1000))
    status, headers, body = own.curl(url, "-r", "100-199", "-H", f"If-Range: {tag}")
    assert (status, body) == (200, content[::-1]) and headers["etag"] != tag, (
        "the new file, within the same second, too"
    )


def test_fi_07_eight_at_once_of_a_file_of_three_gigabytes_leave_the_memory_as_it_was(own: Own) -> None:
    sparse = own.put("sparse.bin")
    os.truncate(sparse, 3 << 30)
    url, before = own.link("sparse.bin")["url"], rss(own.stack)
    with ThreadPoolExecutor(8) as threads:
        for first in (lambda _: own.curl(url, "-r", "0-0")[::2], lambda _: (own.past(url, headers=own.me | {"Range": "bytes=0-0"}).status_code, b"h")):  # fmt: skip
            assert [*threads.map(first, range(8))] == [(206, b"h")] * 8
    copy = next(own.stack.layout.spool.iterdir())
    assert max(each.stat().st_blocks for each in (copy, sparse)) * 512 < 1 << 20, "holes are not written out"
    assert rss(own.stack) < before + (50 << 20)
    sparse.unlink()
    assert own.curl(url)[0] == 404


def test_fi_01_whatever_is_not_registered_is_missing_in_the_same_words(own: Own) -> None:
    (own.home / ".memory.md").write_text("- 2026-01-01: a secret of mine\n")
    own.give(own.home / ".memory.md")
    (own.home.parent / f"{own.home.name}-old").mkdir(exist_ok=True)
    names = ["../downloads-old/x", "..%2f.memory.md", ".memory.md", "a\x00b", "..\\x", "/etc/passwd", "", ".", "..", "downloads/../../x", "none.txt"]  # fmt: skip
    refused = [own.api("POST", "/downloads", json={"path": name}) for name in names]
    assert {each.status_code for each in refused} == {404}
    assert len({each.json()["message"] for each in refused}) == 1
    (own.home.parent / f"{own.home.name}-old").rmdir()
    made = own.link(own.put("open.txt").name)
    place = urlsplit(made["url"])._replace(path="", query="").geturl()
    tried = ["/downloads/../downloads-old/x", "/downloads/..%2f.memory.md", "/downloads/.memory.md", "/downloads/a%5cb", "/downloads//etc/passwd", f"/downloads/{uuid4()}/open.txt", f"/downloads/{made['download_id']}/other.txt", f"/downloads/{made['download_id']}/", f"/downloads/{made['download_id']}/%2e%2e%2f.memory.md", "/downloads/%2e%2e/.memory.md", f"/spool/{made['download_id']}", "/spool/", "/d/x/y"]  # fmt: skip
    for url in tried:
        by_nginx, past = own.curl(place + url), own.past(place + url)
        for status, body in ((by_nginx[0], by_nginx[2]), (past.status_code, past.content)):
            assert status == 404 and b"secret of mine" not in body and b"root:" not in body, url
    assert own.past(place + "/downloads/a%00b").status_code == 404
    assert own.curl(place + "/downloads/a%00b")[0] in (400, 404), "nginx itself takes no NUL"


def test_fi_05_a_name_is_one_header_and_pretends_nothing(own: Own) -> None:
    odd = 'Prüf"ung; x=\\\r\nX-Other: yes.pdf'
    named = own.link(own.put("a.pdf").name, name=odd)
    status, headers, body = own.curl(named["url"])
    assert (status, body) == (200, b"hello") and "x-other" not in headers
    assert headers["content-disposition"] == "attachment; filename=\"Pruf_ung_ x=_ X-Other_ yes.pdf\"; filename*=UTF-8''Pr%C3%BCf%22ung%3B%20x%3D_%20X-Other%3A%20yes.pdf"  # fmt: skip
    assert own.past(named["url"]).headers["content-disposition"] == headers["content-disposition"]
    assert own.link("a.pdf", name="...")["name"] == "download"
    assert own.link("a.pdf", name="\u200ffdp.exe")["name"] == "fdp.exe"
    long = own.link("a.pdf", name="漢" * 200 + ".pdf")
    assert len(long["name"].encode()) <= 255 and long["name"].endswith("漢.pdf")
    assert own.curl(long["url"])[0] == 200


def test_a_link_is_its_owners_alone_and_goes_when_it_is_taken_back(own: Own, boss: Person) -> None:
    own.put("mine.txt")
    made = own.link("mine.txt")
    assert own.curl(made["url"], key=False)[0] == 404
    other, path = Person(boss.base, f"other-{uuid4().hex[:6]}"), boss.invite("admin")
    other.http.close()
    other.http = own.gate.client("console")
    assert (
        other.send(path, path, name="Otto", handle=other.handle, password=PASSWORD, again=PASSWORD).status_code == 303
    )
    key = apart(lambda: make_access(own.stack.state, "token", other.handle, "test"))["key"]
    assert own.past(made["url"], headers={"Authorization": f"Bearer {key}"}).status_code == 404
    assert own.curl(made["url"])[0] == 200
    listed = [each["download_id"] for each in own.api("GET", "/downloads").json()]
    assert made["download_id"] in listed
    assert own.api("DELETE", f"/downloads/{made['download_id']}").status_code == 204
    assert own.curl(made["url"])[0] == 404 and own.past(made["url"]).status_code == 404


def test_a_signed_link_opens_for_whoever_has_it_and_no_forged_one_does(own: Own) -> None:
    own.put("für alle.txt")
    made = own.link("für alle.txt", by_mail=True, minutes=60)
    for answer in (own.curl(made["url"], key=False), (own.past(made["url"], headers={}).status_code, {}, own.past(made["url"], headers={}).content)):  # fmt: skip
        assert (answer[0], answer[2]) == (200, b"hello")
    parts = urlsplit(made["url"])
    known = dict(parse_qsl(parts.query))
    other = own.link("für alle.txt", by_mail=True)["url"]
    forged = [known | {"e": str(int(known["e"]) + 1)}, known | {"s": known["s"][:-2] + "AA"}, known | {"k": "00000000"}, known | {"e": "1"}, {}, known | {"k": ""}, dict(parse_qsl(urlsplit(other).query))]  # fmt: skip
    empty = hashlib.md5(f"{known['e']}{unquote(parts.path)} ".encode(), usedforsecurity=False).digest()
    forged.append(known | {"k": "none", "s": urlsafe_b64encode(empty).decode().rstrip("=")})
    for query in forged:
        url = parts._replace(query=urlencode(query)).geturl()
        assert own.curl(url, key=False)[0] == 404, query
        assert own.past(url, headers={}).status_code == 404, query
    assert {each["url"] for each in own.api("GET", "/downloads").json() if each["by_mail"]} == {""}, "told once"
    own.api("DELETE", f"/downloads/{made['download_id']}")
    assert own.curl(made["url"], key=False)[0] == 404


def test_links_that_were_sent_open_after_a_rotation(own: Own) -> None:
    own.put("sent.txt")
    before = own.link("sent.txt", by_mail=True)["url"]
    done = own.stack.run("nginx", "rotate-links")
    assert done.returncode == 0, done.stderr
    after = own.link("sent.txt", by_mail=True)["url"]
    assert own.past(after, headers={}).status_code == 200, "the agent knows the new key at once"
    own.gate.process.send_signal(signal.SIGHUP)
    until(lambda: own.curl(after, key=False)[0] == 200, 60, "nginx knows it, too")
    assert own.curl(before, key=False)[0] == 200
