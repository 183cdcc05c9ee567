"""What is done at night."""

from schleuse_app import Db, job


@job("every night at 3")
async def leave(db: Db) -> str:
    """Berths whose time is over are free."""
    over = await db.rows("SELECT id FROM berths WHERE until < current_date")
    await db.delete("berths", over)
    return f"{len(over)} left"
