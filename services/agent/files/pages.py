"""The pages of one's files: folders, a search, a file's text, and forms for all that can be done with them. They need no JavaScript; `files.js` makes
them quicker and shows how far a file has come."""

from collections.abc import Awaitable, Callable, Mapping
from typing import get_args
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from services.agent.chat.front import Asked, Front
from services.agent.chat.showing import age
from services.agent.files.api import sent, signed_in
from services.agent.files.domain import MOST_UPLOAD, How
from services.agent.files.kept import Files
from services.agent.files.showing import DONE, Shown, crumbs, shown_rows, size_said
from services.agent.files.taking import Form
from services.agent.manual.shelf import manual
from services.agent.memory.names import DOCS
from shared.clock import now
from shared.errors import Conflict, Forbidden, Refused, SchleuseError
from shared.identity.doors import go

LONGEST_SHOWN = 128 * 1024
"""Bytes of a text that are shown; what is shown as a whole can be edited."""


class FilePages:
    def __init__(self, front: Front, files: Files) -> None:
        self._front, self._files = front, files

    def routes(self) -> list[Route]:
        page = self._front.page
        forms = {"folder": self.make_folder, "move": self.move, "delete": self.delete, "vouch": self.vouch, "edit": self.edit}  # fmt: skip
        return [
            Route("/files", page(self.show), methods=["GET"]),
            Route("/files", self.take, methods=["POST"]),
            Route("/files/view", page(self.view), methods=["GET"]),
            Route("/files/get", page(self.get), methods=["GET"]),
            *(Route(f"/files/{name}", page(handler), methods=["POST"]) for name, handler in forms.items()),
        ]

    async def show(self, asked: Asked) -> Response:
        if asked.caller.me.is_guest:
            return self._front.show(asked.caller, "files.html", here="files", guest=True)
        asked_for = asked.request.query_params
        return await self._show(asked, asked_for.get("in", ""), q=asked_for.get("q", "").strip(), done=DONE.get(asked_for.get("done", ""), ""))  # fmt: skip

    async def _show(self, asked: Asked, folder: str, status: int = 200, *, q: str = "", done: str = "", notice: str = "") -> Response:  # fmt: skip
        me = asked.caller.me
        found = None
        try:
            if q:
                found = await self._files.search(me, q, "" if folder == DOCS else folder)
            rows = shown_rows([] if q or _in_docs(folder) else await self._files.list(me, folder), now())
        except Refused as error:
            status, notice, rows = error.status, notice or error.message, []
        pages = [each for each in manual().pages if f"{DOCS}/{each}".startswith(f"{folder}/")] if _in_docs(folder) else []  # fmt: skip
        room = await self._files.room(me)
        context = {"folder": folder, "crumbs": crumbs(folder), "rows": rows, "pages": pages, "q": q, "found": found}
        more = {"used": size_said(room.used), "left": size_said(room.left), "files": room.files, "most": MOST_UPLOAD}
        said = {"done": done, "notice": notice, "guest": False, "read_only": _in_docs(folder)}
        return self._front.show(asked.caller, "files.html", status, here="files", **context, **more, **said)

    async def view(self, asked: Asked) -> Response:
        me, path = signed_in(asked.caller.me), asked.request.query_params.get("path", "")
        done = DONE.get(asked.request.query_params.get("done", ""), "")
        return self._front.show(asked.caller, "file.html", here="files", it=await self._text(asked, path), done=done, notice="", draft=None, me=me)  # fmt: skip

    async def _text(self, asked: Asked, path: str) -> Shown:
        """What a page shows of a file."""
        if path.startswith(f"{DOCS}/"):
            return Shown.of_docs(path, manual().read(path.removeprefix(f"{DOCS}/")))
        with await self._files.open(asked.caller.me, path) as found:
            raw = b"".join([piece async for piece in found.pieces(0, LONGEST_SHOWN)])
            return Shown.of_file(found, raw, age_of=lambda at: age(at, now()))

    async def get(self, asked: Asked) -> Response:
        return await sent(self._files, signed_in(asked.caller.me), asked.request.query_params.get("path", ""))

    async def take(self, request: Request) -> Response:
        """A form with files, for whoever has no JavaScript: the first that does not fit ends it, and those before it stay."""
        caller = await self._front.callers.find(request)
        me, form, folder, count = signed_in(caller.me), Form(request), request.query_params.get("in", ""), 0
        asked = Asked(request, caller, form.fields)
        try:
            async for name, content in form.files():
                self._front.check(asked)
                path = f"{folder}/{name}" if folder else name
                await self._files.put_in(me, path, content, _how(form.fields))
                count += 1
            self._front.check(asked)
        except Forbidden:
            raise
        except SchleuseError as error:
            kept = f" {count} before it were kept." if count else ""
            return await self._show(asked, folder, error.status, notice=error.message + kept)
        return go(_folder(folder, "taken" if count else "nothing"))

    async def make_folder(self, asked: Asked) -> Response:
        async def work() -> str:
            folder, name = asked.form.get("in", ""), asked.form.get("name", "").strip()
            await self._files.make_folder(asked.caller.me, f"{folder}/{name}" if folder else name)
            return _folder(folder, "made")

        return await self._do(asked, work)

    async def move(self, asked: Asked) -> Response:
        async def work() -> str:
            path = await self._files.move(asked.caller.me, asked.form.get("path", ""), asked.form.get("to", "").strip())
            return _folder(path.rpartition("/")[0], "moved")

        return await self._do(asked, work)

    async def delete(self, asked: Asked) -> Response:
        async def work() -> str:
            path = asked.form.get("path", "")
            await self._files.delete(asked.caller.me, path, everything=asked.form.get("everything") == "yes")
            return _folder(path.rpartition("/")[0], "deleted")

        return await self._do(asked, work)

    async def vouch(self, asked: Asked) -> Response:
        async def work() -> str:
            path = asked.form.get("path", "")
            await self._files.vouch(asked.caller.me, path)
            return "/files/view?" + urlencode({"path": path, "done": "vouched"})

        return await self._do(asked, work)

    async def edit(self, asked: Asked) -> Response:
        """Conflict when the file is not any more what the form began with; what was typed is shown again."""
        self._front.check(asked)
        me, path = signed_in(asked.caller.me), asked.form.get("path", "")
        text = asked.form.get("text", "").replace("\r\n", "\n")
        it = await self._text(asked, path)
        try:
            if it.version != asked.form.get("version", ""):
                raise Conflict("This file was changed meanwhile; nothing was saved. What you wrote is below, the file itself can be opened anew.")  # fmt: skip
            await self._files.edit(me, path, text.encode(), it.sources)
        except SchleuseError as error:
            return self._front.show(asked.caller, "file.html", error.status, here="files", it=it, done="", notice=error.message, draft=text, me=me)  # fmt: skip
        return go("/files/view?" + urlencode({"path": path, "done": "saved"}))

    async def _do(self, asked: Asked, work: Callable[[], Awaitable[str]]) -> Response:
        self._front.check(asked)
        signed_in(asked.caller.me)
        try:
            return go(await work())
        except SchleuseError as error:
            folder = asked.form.get("in") or asked.form.get("path", "").rpartition("/")[0]
            return await self._show(asked, folder, error.status, notice=error.message)


def _how(fields: Mapping[str, str]) -> How:
    said = fields.get("how", "number")
    return said if said in get_args(How) else "number"  # type: ignore[return-value]


def _in_docs(folder: str) -> bool:
    return folder == DOCS or folder.startswith(f"{DOCS}/")


def _folder(folder: str, done: str) -> str:
    known = {"in": folder} if folder else {}
    return "/files?" + urlencode({**known, "done": done})
