"""One app's process: loads the approved bytes, answers the console, asks back for rows. Nothing else reaches it, and it reaches nothing.

    python -m infra.apps.worker --fd N

Started by infra.apps.host with the console's connection as descriptor N.
"""

import argparse
import asyncio
import io
import os
import socket
import sys
import traceback
from base64 import b64decode
from contextlib import redirect_stderr, redirect_stdout, suppress
from types import ModuleType

import jinja2
import pydantic
import sqlalchemy

from infra.apps import declare, loading, schleuse_app, statements
from infra.apps.confine import confine
from shared.apps.folder import BadFolder, check_folder, folder_hash
from shared.apps.frames import MAX_PAGE, BadFrame, Frame, receive, send

NEEDED = (jinja2, pydantic, sqlalchemy, statements)
"""Imported before the way to files is shut."""
MAX_OUTPUT = 64 * 1024
MAX_REASON = 2000


class Output(io.StringIO):
    """What code prints: the last part of it is kept."""

    def write(self, text: str, /) -> int:
        if self.tell() > 2 * MAX_OUTPUT:
            kept = self.getvalue()[-MAX_OUTPUT:]
            self.seek(0)
            self.truncate()
            super().write(kept)
        return super().write(text[-MAX_OUTPUT:])

    def kept(self) -> str:
        return self.getvalue()[-MAX_OUTPUT:]


class Worker:
    def __init__(self, console: socket.socket) -> None:
        self._console = console
        self._loaded = False

    def serve(self) -> None:
        """Until the console is gone."""
        while (frame := receive(self._console)) is not None:
            output = Output()
            with redirect_stdout(output), redirect_stderr(output):
                answer = self._answer(frame, output)
            send(self._console, answer)

    def _answer(self, frame: Frame, output: Output) -> Frame:
        try:
            match frame["op"]:
                case "load":
                    return self._load(frame)
                case "page" if self._loaded:
                    return self._page(frame)
                case "job" if self._loaded:
                    return self._job(frame, output)
                case _:
                    return {"op": "failed", "reason": "the app is not loaded"}
        except BaseException as error:  # whatever an app's code raises is its answer
            return {"op": "failed", "reason": _reason(error), "output": output.kept()}

    def _load(self, frame: Frame) -> Frame:
        """The folder is hashed anew: what runs is what was approved."""
        files = {path: b64decode(raw) for path, raw in frame["files"].items()}
        try:
            check_folder(files)
        except BadFolder as fault:
            return {"op": "failed", "reason": str(fault)}
        if folder_hash(files) != frame["hash"]:
            return {"op": "failed", "reason": "the folder is not the one that was approved"}
        sys.modules["schleuse_app"] = schleuse_app
        here = schleuse_app.here
        here.files = files
        here.templates = schleuse_app.environment({path.removeprefix("templates/"): raw.decode() for path, raw in files.items() if path.startswith("templates/")})  # fmt: skip
        loading.offer(files)
        models, _, pages, _ = (_imported(name, files) for name in ("models", "schemas", "pages", "jobs"))
        if (
            pages is not None
            and "" not in here.pages
            and callable(getattr(pages, "page", None))
            and pages.page is not schleuse_app.page
        ):
            here.pages[""] = pages.page
        self._loaded = True
        tables = declare.tables_of(models) if models else None
        jobs = [{"name": each.name, "schedule": each.schedule, "about": each.about} for each in here.jobs.values()]
        return {"op": "loaded", "tables": tables, "pages": sorted(here.pages), "jobs": jobs}

    def _page(self, frame: Frame) -> Frame:
        run = schleuse_app.here.pages.get(str(frame["path"]).strip("/"))
        if run is None:
            return {"op": "answer", "status": 404, "html": ""}
        request = schleuse_app.Request(str(frame["path"]), dict(frame["query"]), str(frame["lang"]))
        html = str(asyncio.run(run(request, schleuse_app.Db(self._ask))))
        if len(html.encode("utf-8", "surrogatepass")) > MAX_PAGE:
            return {"op": "failed", "reason": f"the page has more than {MAX_PAGE // 1024} KiB"}
        return {"op": "answer", "status": 200, "html": html}

    def _job(self, frame: Frame, output: Output) -> Frame:
        found = schleuse_app.here.jobs.get(str(frame["name"]))
        if found is None:
            return {"op": "failed", "reason": f"there is no job {frame['name']}"}
        said = asyncio.run(found.run(schleuse_app.Db(self._ask)))
        if said is not None:
            output.write(f"{said}\n")
        return {"op": "done", "output": output.kept()}

    def _ask(self, frame: Frame) -> Frame:
        send(self._console, frame)
        found = receive(self._console)
        if found is None:
            raise SystemExit(0)
        return found


def _imported(name: str, files: dict[str, bytes]) -> ModuleType | None:
    if f"{name}.py" not in files and f"{name}/__init__.py" not in files:
        return None
    sys.modules.pop(name, None)
    __import__(name)
    return sys.modules[name]


def _reason(error: BaseException) -> str:
    """The error, and where in the app's own code: no path of this machine."""
    places = [
        f"{each.filename}:{each.lineno}"
        for each in traceback.extract_tb(error.__traceback__)
        if each.filename.startswith("app/")
    ]
    where = f" ({places[-1]})" if places else ""
    return f"{type(error).__name__}{where}: {error}"[:MAX_REASON]


def main() -> None:
    parser = argparse.ArgumentParser(prog="infra.apps.worker")
    parser.add_argument("--fd", type=int, required=True)
    console = socket.socket(fileno=parser.parse_args().fd)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    confine()
    os.dup2(nowhere, 1)
    os.dup2(
        nowhere, 2
    )  # until here faults of ours are in the log; what an app prints may be anything and goes with its answer
    with suppress(BadFrame, ConnectionError):
        Worker(console).serve()


if __name__ == "__main__":
    main()
