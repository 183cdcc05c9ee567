"""Submitting Markdown in the browser, and what became of it."""

from typing import Any

import yaml
from starlette.responses import Response
from starlette.routing import Route

from schemas.content import Form, ItemContent
from services.console.attachments.showing import listed
from services.console.attachments.usecases.keep_files import join, kept_files
from services.console.desk import Desk, Visit, go
from services.console.forms import Form as Posted
from services.console.forms import as_uuid, query
from services.console.queue import views
from services.console.queue.usecases.submit_item import prepare_files, read_draft, submit_item
from services.console.queue.usecases.wait_for import wait_for_queue
from shared.attaching import Prepared
from shared.errors import NotFound, Refused

PATIENCE = 2.0
"""Seconds a submission waits for the lock before the page says that it is on its way."""
FIELDS = ("kind", "lang", "path", "audience", "markdown")


class SubmitPages:
    """Kind, language, path, text or file; limits are named before and after."""

    def __init__(self, desk: Desk) -> None:
        self._desk, self._console = desk, desk.console

    def routes(self) -> list[Route]:
        page = self._desk.page
        return [
            Route("/submit", page(self.ask, "submit")),
            Route("/submit", page(self.submit, "submit"), methods=["POST"]),
            Route("/submissions/{submission_id}", page(self.state)),
        ]

    async def ask(self, visit: Visit) -> Response:
        given = {"kind": "page", "lang": "en", "path": "", "audience": "public", "markdown": ""}
        item = query(visit.request, "item", 40)
        if item:
            given |= await self._revision_of(item)
        return await visit.show("submit.html", given=given, refused=None, **await self._kept_of(item))

    async def submit(self, visit: Visit) -> Response:
        form = visit.form
        given = {name: form.text(name) for name in FIELDS}
        given["markdown"] = form.text("file") or given["markdown"]
        try:
            attached = await self._attached(form, given["markdown"])
            draft = read_draft(
                given["kind"],
                given["lang"],
                given["path"] or _stem(form.text("file_name")),
                given["markdown"],
                given["audience"] or "public",
                attached,
            )
            async with self._console.db.transaction() as tx:
                sent = await submit_item(tx, visit.caller, draft, attached)
        except Refused as refused:
            kept = await self._kept_of(form.text("item"))
            return await visit.show("submit.html", refused.status, given=given, refused=refused, **kept)
        found = await wait_for_queue(self._console.db, self._console.live, [sent.submission_id], PATIENCE)
        queued = found[sent.submission_id]["state"] in {"queued", "unchanged"}
        return go(f"/queue/{sent.item_id}" if queued else f"/submissions/{sent.submission_id}")

    async def _attached(self, form: Posted, text: str) -> Prepared:
        """What was chosen, and what stays of the revision before; a file of the same name takes the other's place."""
        fresh = await prepare_files(form.files, text)
        wanted = set(form.every("keep"))
        if not wanted:
            return fresh
        async with self._console.db.reading() as tx:
            kept = await kept_files(tx, as_uuid(form.text("item")), wanted)
        return join(kept, fresh)

    async def _kept_of(self, item: str) -> dict[str, Any]:
        """The files of the newest revision, to be kept or left out."""
        async with self._console.db.reading() as tx:
            row = await views.item(tx, as_uuid(item)) if item else None
            revision = await views.revision(tx, row["item_id"], row["revision"]) if row else None
            content = ItemContent.from_bytes(revision["content"]) if revision else None
            files = await listed(tx, row["item_id"], content.attachments) if row and content else ()
        return {"item": item, "kept": [each for each in files if each.is_here and not each.smaller]}

    async def state(self, visit: Visit) -> Response:
        async with self._console.db.reading() as tx:
            row = await views.submission(tx, as_uuid(visit.request.path_params["submission_id"]))
        if row is None:
            raise NotFound("There is no such submission.")
        return await visit.show("submission.html", row=row)

    async def _revision_of(self, item: str) -> dict[str, Any]:
        async with self._console.db.reading() as tx:
            row = await views.item(tx, as_uuid(item))
            revision = await views.revision(tx, row["item_id"], row["revision"]) if row else None
        if row is None or revision is None:
            raise NotFound("There is no such item in the queue.")
        content = ItemContent.from_bytes(revision["content"])
        place = {name: row[name] for name in ("kind", "lang", "path", "audience")}
        return {**place, "markdown": as_source(content)}


def as_source(content: ItemContent) -> str:
    """The content as one would write it: front matter only where the body does not say it."""
    front = [f"title: {_quoted(content.title)}"] if not content.body.lstrip().startswith(f"# {content.title}") else []
    front += [f"summary: {_quoted(content.summary)}"] if content.summary else []
    front += [f"comments: {content.comments}"] if content.comments else []
    front += [_form(content.form)] if content.form else []
    return "\n".join(["---", *front, "---", "", content.body]) if front else content.body


def _form(form: Form) -> str:
    """The form as front matter has it."""
    fields = form.model_dump(mode="json", exclude_defaults=True)
    return yaml.safe_dump({"form": fields}, allow_unicode=True, sort_keys=False, width=1000).rstrip()


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _stem(name: str) -> str:
    return name.replace("\\", "/").rsplit("/", 1)[-1].removesuffix(".md").removesuffix(".markdown")
