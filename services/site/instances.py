"""What one instance of the site tells the others. Everything that must be right is read from the database; this makes it quick."""

from services.site.publication.books import Books
from services.site.publication.watch import Watch
from services.site.signals.limits import RateLimit
from services.site.signals.tallies import Tallies
from services.site.signals.upkeep import Upkeep
from shared.db.notices import Notices


def share(notices: Notices, books: Books, watch: Watch, tallies: Tallies, upkeep: Upkeep, limit: RateLimit) -> None:
    """Entries are looked for at once, votes within two seconds, and a visitor's signals count wherever they came in."""
    if not notices.several:
        return
    books.several = True
    books.listeners.append(lambda: notices.tell("log"))
    notices.on("log", lambda _: watch.hurry())
    tallies.voted.append(lambda: notices.tell("votes"))
    notices.on("votes", lambda _: upkeep.hurry())
    limit.counted.append(lambda visitor, number: notices.tell("signal", [visitor, number]))

    def signal(body: list[str] | None) -> None:
        if body is not None:
            limit.note(body[0])

    notices.on("signal", signal)
