"""Area grants: the whole inventory holds nothing but what the code gives, and what is reported of it is read by those who may."""

from infra.observe.grants.line import SURFACES, Line
from infra.observe.grants.take import areas_of, take
from infra.observe.lying import facts, owned
from infra.observe.report_files import GRANTS, TOP, report_folder
from infra.prove.check import Book, Check
from infra.prove.target import Target


async def check(target: Target) -> list[Check]:
    book = Book("grants")
    lines = await take(target, areas_of(target))
    for surface in SURFACES:
        for area in areas_of(target):
            of_both = [line for line in lines if (line.surface, line.area) == (surface, area)]
            if of_both:
                differing = "; ".join(_told(line) for line in of_both if line.differs)
                if any(line.state == "open" for line in of_both):
                    book.open(surface, f"{area}: everything that OS users of their own would keep", "as the code says")
                book.holds(surface, f"{area}: {len(of_both)} rights and definitions are as the code says", differing)
    _reports(target, book)
    return book.checks


def _told(line: Line) -> str:
    return f"{line.what} is {line.state}: {line.got or 'not there'}"


def _reports(target: Target, book: Book) -> None:
    """What the supervisor writes for the console is the installing user's; the console's group reads it, nobody writes it."""
    folder = report_folder(target.layout)
    if target.config.containers or not folder.exists():
        return
    owner = (target.config.install_uid, target.who.gids["console"])
    book.same("reports", "owner, group, mode: run/report", owned(owner, "750"), facts(folder))
    for name in (GRANTS, TOP):
        if (folder / name).exists():
            book.same("reports", f"owner, group, mode: run/report/{name}", owned(owner, "640"), facts(folder / name))
