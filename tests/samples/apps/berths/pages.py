"""Who lies where."""

from models import Berth, Boat
from schleuse_app import Db, Request, page, template
from sqlalchemy import select

from schemas import Lying


@page("")
async def overview(request: Request, db: Db) -> str:
    rows = await db.rows(
        select(Boat.name, Berth.place, Berth.until).join(Berth, Berth.boat == Boat.registration).order_by(Boat.name)
    )
    return template("overview.html", lying=[Lying(**row) for row in rows])


@page("longest")
async def longest(request: Request, db: Db) -> str:
    rows = await db.rows("SELECT name, length FROM boats WHERE length > $1 ORDER BY length DESC LIMIT 5", 10)
    return template("longest.html", rows=rows)
