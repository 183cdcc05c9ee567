"""What an app's code may import as `schleuse_app`.

    from schleuse_app import job, page, template

    @page("")                                    # /applications/<slug>/
    async def overview(request, db):
        rows = await db.rows("SELECT name, total FROM orders WHERE total > $1 ORDER BY total DESC LIMIT 20", 100)
        return template("overview.html", rows=rows)

    @job("every night at 3")
    async def tidy(db):
        await db.delete("orders", [{"number": 7}])

A page reads; a job reads and writes. What is written goes through the console: types are checked, history is kept. `db.rows` also takes
a SQLAlchemy select of the app's own models.
"""

from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from jinja2 import DictLoader, Environment, StrictUndefined
from markupsafe import Markup

Rows = list[dict[str, Any]]


class Asks(Protocol):
    def __call__(self, frame: dict[str, Any]) -> dict[str, Any]: ...


class AppError(Exception):
    """The console did not do what was asked; the message says why."""


@dataclass(frozen=True)
class Request:
    """`path` below the app's own; `query`: what stands behind the question mark; `lang`: en or de."""

    path: str
    query: Mapping[str, str]
    lang: str = "en"


@dataclass(frozen=True)
class Job:
    name: str
    schedule: str
    run: Callable[["Db"], Coroutine[Any, Any, object]]
    about: str = ""


def environment(templates: Mapping[str, str]) -> Environment:
    return Environment(
        loader=DictLoader(dict(templates)),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


@dataclass
class Registered:
    pages: dict[str, Callable[[Request, "Db"], Coroutine[Any, Any, object]]] = field(default_factory=dict)
    jobs: dict[str, Job] = field(default_factory=dict)
    templates: Environment = field(default_factory=lambda: environment({}))
    files: Mapping[str, bytes] = field(default_factory=dict)


here = Registered()
"""Of this process's one app."""


def page(path: str = "") -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """`path`: `customers` or `customers/best`; the empty one is the app's front page."""

    def put(run: Callable[..., Any]) -> Callable[..., Any]:
        here.pages[path.strip("/")] = run
        return run

    return put


def job(schedule: str, *, name: str = "") -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """`schedule` in words, such as `every Sunday at 7`. A person switches a job on in the console."""

    def put(run: Callable[..., Any]) -> Callable[..., Any]:
        called = name or run.__name__
        here.jobs[called] = Job(called, schedule, run, (run.__doc__ or "").strip().split("\n")[0][:200])
        return run

    return put


def template(name: str, **values: Any) -> Markup:
    """templates/<name>, filled in. Values are escaped."""
    return Markup(here.templates.get_template(name).render(values))  # noqa: S704 - made by a template that escapes


def file(path: str) -> bytes:
    """A file of the app's own folder."""
    return here.files[path]


class Db:
    """The app's own tables. `rows` reads; the others are for jobs."""

    def __init__(self, ask: Asks) -> None:
        self._ask = ask

    async def rows(self, statement: Any, *values: Any) -> Rows:
        """A SELECT with $1, $2 …, or a SQLAlchemy select. At most 10,000 rows and 4 MiB; AppError says why it was refused."""
        from infra.apps.statements import written  # noqa: PLC0415 - only apps that ask need SQLAlchemy

        sql, given = written(statement, values)
        return answered(self._ask({"op": "query", "sql": sql, "values": given}))

    async def value(self, statement: Any, *values: Any) -> Any:
        """The first column of the first row, or None."""
        found = await self.rows(statement, *values)
        return next(iter(found[0].values()), None) if found else None

    async def add(self, table: str, rows: Sequence[Mapping[str, Any]]) -> Rows:
        """What names each new row."""
        return self._write("add", table, [dict(each) for each in rows])

    async def change(self, table: str, key: Mapping[str, Any], values: Mapping[str, Any]) -> Rows:
        return self._write("change", table, [{"key": dict(key), "values": dict(values)}])

    async def delete(self, table: str, keys: Sequence[Mapping[str, Any]]) -> Rows:
        return self._write("delete", table, [dict(each) for each in keys])

    def _write(self, what: str, table: str, rows: list[dict[str, Any]]) -> Rows:
        from infra.apps.statements import sent  # noqa: PLC0415

        return answered(self._ask({"op": "write", "do": what, "table": table, "rows": [sent(each) for each in rows]}))


def answered(frame: dict[str, Any]) -> Rows:
    from infra.apps.statements import typed  # noqa: PLC0415

    if frame["op"] == "refused":
        raise AppError(str(frame["reason"]))
    return typed(frame)
