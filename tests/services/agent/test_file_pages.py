"""Files by the API and by forms without JavaScript: what comes in, what is refused in words, and who may."""

import asyncio
import socket
import unicodedata
from collections.abc import AsyncIterator
from pathlib import Path

import httpx2
import pytest

from shared.testing.servers import Servers
from tests.factories.identity import sign_in
from tests.factories.workspace import Living, form_token, headers, living

PUT, FILES = "/api/v1/files/content", "/api/v1/files"


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("state")


@pytest.fixture(scope="module")
async def workspace(servers: Servers, root: Path) -> AsyncIterator[Living]:
    async with living(servers, root) as found:
        yield found


@pytest.fixture
async def kim(workspace: Living) -> AsyncIterator[httpx2.AsyncClient]:
    """Somebody in their browser, whose scripts send the token."""
    async with workspace.browser() as client:
        await sign_in(client, workspace.people, role="member", name="Kim")
        client.headers.update(await headers(client))
        yield client


async def names(client: httpx2.AsyncClient, folder: str = "") -> list[str]:
    found = (await client.get(FILES, params={"folder": folder})).json()
    return [each["name"] for each in found["entries"] if not each["folder"]]


async def test_fi_03_by_the_api(kim: httpx2.AsyncClient) -> None:
    composed, decomposed = (unicodedata.normalize(form, "uploads/Übersicht.pdf") for form in ("NFC", "NFD"))
    put = await kim.put(PUT, params={"path": decomposed}, content=b"one")
    assert put.status_code == 201 and put.json() == {"path": composed}
    for spelled in (composed, decomposed):
        assert (await kim.get(PUT, params={"path": spelled})).content == b"one"
    assert (await kim.put(PUT, params={"path": composed}, content=b"two")).json()["path"] == "uploads/Übersicht (2).pdf"
    refused = await kim.put(PUT, params={"path": composed, "how": "refuse"}, content=b"three")
    assert refused.status_code == 409 and refused.json()["code"] == "taken"
    assert len(await names(kim, "uploads")) == 2
    assert (await kim.delete(FILES, params={"path": decomposed})).json() == {"files": 1}
    assert (await kim.get(PUT, params={"path": composed})).status_code == 404


@pytest.mark.parametrize(
    "name", ["../x", "/etc/passwd", "a\\b", "a%2fb/../..", ".memory.md", "x\x00y", "CON", "", "docs/x.md"]
)
async def test_fi_01_names_that_are_none_are_refused_in_words(kim: httpx2.AsyncClient, name: str) -> None:
    answer = await kim.put(PUT, params={"path": name}, content=b"x")
    assert answer.status_code == 422 and answer.json()["message"] and await names(kim) == []


async def test_an_upload_that_is_given_up_at_99_percent_leaves_nothing(workspace: Living, kim: httpx2.AsyncClient, root: Path) -> None:  # fmt: skip
    size = 3_000_000
    cookie = "; ".join(f"{name}={value}" for name, value in kim.cookies.items())
    head = f"PUT {PUT}?path=a.bin HTTP/1.1\r\nHost: {workspace.url.removeprefix('http://')}\r\nCookie: {cookie}\r\nX-Form-Token: {kim.headers['X-Form-Token']}\r\nContent-Length: {size}\r\n\r\n"  # fmt: skip

    def give_up() -> None:
        with socket.create_connection(("127.0.0.2", int(workspace.here.rsplit(":", 1)[1])), timeout=60) as sock:
            sock.sendall(head.encode() + b"x" * (size - size // 100))

    await asyncio.to_thread(give_up)
    async with asyncio.timeout(60):
        while list((root / "workspace").rglob(".part-*")):
            await asyncio.sleep(0.01)
    assert await names(kim) == []


async def test_more_than_200_mb_is_refused_before_it_comes(kim: httpx2.AsyncClient) -> None:
    async def much() -> AsyncIterator[bytes]:
        for _ in range(300):
            yield bytes(1 << 20)

    answer = await kim.put(PUT, params={"path": "a.bin"}, content=much(), headers={"Content-Length": str(300 << 20)})
    assert answer.status_code == 413 and "200 MB" in answer.json()["message"]


async def test_search_move_folders_and_vouching(kim: httpx2.AsyncClient) -> None:
    await kim.put(PUT, params={"path": "uploads/a.txt"}, content="Äpfel\nRechnung 7 über Äpfel\n".encode())
    found = (await kim.get(f"{FILES}/search", params={"q": unicodedata.normalize("NFD", "ÄPFEL")})).json()
    assert [(each["path"], each["line"]) for each in found["places"]] == [("uploads/a.txt", 1), ("uploads/a.txt", 2)]
    assert found["everything_searched"] and found["places"][0]["from_outside"]
    assert (await kim.post(f"{FILES}/folders", json={"path": "drafts/old"})).status_code == 201
    moved = await kim.post(f"{FILES}/move", json={"path": "uploads/a.txt", "to": "drafts/old"})
    assert moved.json() == {"path": "drafts/old/a.txt"}
    assert (await kim.post(f"{FILES}/vouch", json={"path": "drafts/old/a.txt"})).status_code == 204
    [entry] = (await kim.get(FILES, params={"folder": "drafts/old"})).json()["entries"]
    assert entry["from_outside"] is False and entry["bytes"] == len("Äpfel\nRechnung 7 über Äpfel\n".encode())
    assert (await kim.delete(FILES, params={"path": "drafts"})).status_code == 422
    assert (await kim.delete(FILES, params={"path": "drafts", "everything": True})).json() == {"files": 1}


async def test_a_form_without_javascript_puts_files_in(kim: httpx2.AsyncClient) -> None:
    token = await form_token(kim, "/files")
    files = [("file", ('Prüf"ung.txt', b"one")), ("file", ("b.txt", b"two")), ("file", ("", b""))]
    done = await kim.post("/files?in=drafts", data={"token": token, "how": "number"}, files=files)
    assert done.status_code == 303 and done.headers["location"] == "/files?in=drafts&done=taken"
    assert await names(kim, "drafts") == ["b.txt", 'Prüf"ung.txt']
    page = await kim.get("/files?in=drafts&done=taken")
    assert "Prüf&#34;ung.txt" in page.text and "It is here." in page.text
    bad = await kim.post("/files?in=drafts", data={"token": token}, files=[("file", ("c.txt", b"1")), ("file", ("CON", b"2"))])  # fmt: skip
    assert bad.status_code == 422 and "take it for a device" in bad.text and "1 before it were kept" in bad.text
    forged = await kim.post("/files", data={"token": "x" * 64}, files=[("file", ("d.txt", b"1"))])
    assert forged.status_code == 403 and await names(kim) == []


async def test_a_text_is_shown_edited_and_never_overwritten_blindly(kim: httpx2.AsyncClient) -> None:
    await kim.put(PUT, params={"path": "a.txt"}, content=b"<script>1</script>")
    page = await kim.get("/files/view?path=a.txt")
    assert "&lt;script&gt;" in page.text and "Text in it came from outside" in page.text
    version = page.text.split('name="version" value="')[1].split('"')[0]
    form = {"token": await form_token(kim, "/files"), "path": "a.txt", "version": version}
    saved = await kim.post("/files/edit", data={**form, "text": "two\r\nlines"})
    assert saved.status_code == 303 and (await kim.get(PUT, params={"path": "a.txt"})).content == b"two\nlines"
    again = await kim.post("/files/edit", data={**form, "text": "what was typed"})
    assert again.status_code == 409 and "what was typed" in again.text
    assert "Text in it came from outside" in (await kim.get("/files/view?path=a.txt")).text
    vouched = await kim.post("/files/vouch", data={"token": form["token"], "path": "a.txt"})
    assert vouched.status_code == 303
    assert "Text in it came from outside" not in (await kim.get("/files/view?path=a.txt")).text


async def test_forms_move_delete_and_make_folders(kim: httpx2.AsyncClient) -> None:
    await kim.put(PUT, params={"path": "a.txt"}, content=b"x")
    token = await form_token(kim, "/files")
    for path, form, place in (
        ("folder", {"in": "drafts", "name": "new"}, "/files?in=drafts&done=made"),
        ("move", {"path": "a.txt", "to": "drafts/new"}, "/files?in=drafts%2Fnew&done=moved"),
        ("delete", {"path": "drafts/new/a.txt"}, "/files?in=drafts%2Fnew&done=deleted"),
        ("delete", {"path": "drafts", "everything": "yes"}, "/files?done=deleted"),
    ):
        done = await kim.post(f"/files/{path}", data={"token": token, **form})
        assert (done.status_code, done.headers.get("location")) == (303, place)
    missing = await kim.post("/files/delete", data={"token": token, "path": "a.txt"})
    assert missing.status_code == 404 and "There is no such file" in missing.text


async def test_a_file_comes_as_it_is_and_not_as_a_page_of_ours(kim: httpx2.AsyncClient) -> None:
    await kim.put(PUT, params={"path": "Prüf.html"}, content=b"<script>alert(1)</script>")
    for path in (f"{PUT}?path=Prüf.html", "/files/get?path=Prüf.html"):
        found = await kim.get(path)
        assert (
            found.content == b"<script>alert(1)</script>"
            and found.headers["content-type"] == "application/octet-stream"
        )
        assert found.headers["content-disposition"].startswith("attachment") and "sandbox" in found.headers["content-security-policy"]  # fmt: skip


async def test_the_documentation_is_read_there_and_not_changed(kim: httpx2.AsyncClient) -> None:
    assert "en/files.md" in (await kim.get("/files?in=docs")).text
    page = (await kim.get("/files/view?path=docs/en/files.md")).text
    assert "200 MB" in page and "<textarea" not in page
    assert (await kim.get("/files/view?path=docs/../start.md")).status_code in (404, 422)


async def test_guests_and_others_find_nothing(workspace: Living, kim: httpx2.AsyncClient) -> None:
    await kim.put(PUT, params={"path": "a.txt"}, content=b"mine")
    async with workspace.browser() as guest, workspace.browser() as other:
        assert "You are a guest" in (await guest.get("/files")).text
        for answer in (await guest.get(FILES), await guest.get(f"{PUT}?path=a.txt"), await guest.put(f"{PUT}?path=a.txt", content=b"x")):  # fmt: skip
            assert answer.status_code == 401
        await sign_in(other, workspace.people, role="owner", name="Other")
        other.headers.update(await headers(other))
        assert (await other.get(f"{PUT}?path=a.txt")).status_code == 404 and await names(other) == []
        other.headers["X-Form-Token"] = "no"
        assert (await other.put(f"{PUT}?path=b.txt", content=b"x")).status_code == 403
