"""Having an item open: shown, renewed, taken over, given up; never in the way of a decision."""

from datetime import timedelta
from uuid import UUID

import pytest

from services.console.claims.usecases.claim_item import Claimed, claim_item
from services.console.claims.usecases.release_claim import release_claim
from services.console.claims.usecases.release_claims import release_claims
from services.console.people.passwords import Passwords
from services.console.people.usecases.change_role import change_role
from services.console.people.usecases.sign_out_everywhere import sign_out_everywhere
from shared.clock import now
from tests.services.console.conftest import MARA, TOM, Desk, Made
from tests.services.console.joining import OWNER, joined


async def claims(desk: Desk, made: Made, who: object, tab: str = "", *, over: bool = False) -> Claimed:
    async with desk.db.transaction() as tx:
        return await claim_item(tx, who, made.item_id, tab, over=over)  # type: ignore[arg-type]


async def held_by(desk: Desk, made: Made) -> str | None:
    row = await desk.item(made)
    return row["claimed_name"] if row["claimed_until"] and row["claimed_until"] > now() else None


async def test_a_claim_belongs_to_one_and_without_a_script_to_one_item(desk: Desk) -> None:
    one, two = await desk.queue(), await desk.queue()
    assert (await claims(desk, one, MARA)) == Claimed(held=True, begun=True)
    assert (await claims(desk, one, MARA)) == Claimed(held=True, begun=False), "renewed"
    assert not (await claims(desk, one, TOM)).held
    assert (await claims(desk, two, MARA)).held
    assert (await claims(desk, one, TOM)).held, "MARA reads another one now"


async def test_two_open_pages_keep_two_items(desk: Desk) -> None:
    one, two = await desk.queue(), await desk.queue()
    await claims(desk, one, MARA, "tab 1")
    await claims(desk, two, MARA, "tab 2")
    assert (await held_by(desk, one), await held_by(desk, two)) == (MARA.name, MARA.name)


async def test_of_two_pages_with_one_item_the_one_that_renewed_last_gives_it_up(desk: Desk) -> None:
    made = await desk.queue()
    await claims(desk, made, MARA, "tab 1")
    await claims(desk, made, MARA, "tab 2")
    async with desk.db.transaction() as tx:
        assert not await release_claim(tx, MARA, made.item_id, "tab 1")
    assert await held_by(desk, made) == MARA.name
    async with desk.db.transaction() as tx:
        assert not await release_claim(tx, TOM, made.item_id, "tab 2"), "not his"
        assert await release_claim(tx, MARA, made.item_id, "tab 2")
    assert await held_by(desk, made) is None


async def test_a_claim_is_taken_over_only_when_one_says_so_and_the_other_is_named(desk: Desk) -> None:
    made = await desk.queue()
    await claims(desk, made, MARA)
    taken = await claims(desk, made, TOM, over=True)
    assert taken == Claimed(held=True, begun=True, lost_by=MARA.id)
    assert not (await claims(desk, made, MARA, "tab 1")).held, "her page does not take it back by itself"


async def test_a_claim_ends_by_itself_and_with_a_decision(desk: Desk) -> None:
    made = await desk.queue()
    await claims(desk, made, MARA)
    async with desk.db.transaction() as tx:
        await tx.raw.execute(
            "UPDATE app.items SET claimed_until = $2 WHERE item_id = $1", made.item_id, now() - timedelta(seconds=1)
        )
    assert (await claims(desk, made, TOM)).begun
    await desk.decide(made.order(), MARA)
    assert (await desk.item(made))["claimed_by"] is None, "a claim never stands in the way of a decision"
    assert not (await claims(desk, made, TOM)).held, "nothing waits"


async def test_signing_out_gives_everything_up(desk: Desk) -> None:
    made = await desk.queue()
    await claims(desk, made, MARA, "tab 1")
    async with desk.db.transaction() as tx:
        await tx.raw.execute(
            "INSERT INTO app.people (id, handle, name, role, created_at, created_by) VALUES ($1, $2, 'Mara', 'moderator', now(), 'x')"
            " ON CONFLICT DO NOTHING",
            MARA.id,
            f"mara-{MARA.id}",
        )
        await tx.raw.execute(
            "INSERT INTO app.sessions (token_hash, person_id, created_at, seen_at) VALUES ($1, $2, now(), now())"
            " ON CONFLICT DO NOTHING",
            f"session {MARA.id}",
            MARA.id,
        )
        await release_claims(tx, f"session {MARA.id}")
    assert await held_by(desk, made) is None


@pytest.mark.parametrize("by", ["role", "everywhere"])
async def test_whoever_is_signed_out_has_nothing_open(desk: Desk, passwords: Passwords, by: str) -> None:
    made, (reviewer, _) = await desk.queue(), await joined(desk, passwords)
    async with desk.db.transaction() as tx:
        assert (await claim_item(tx, reviewer, made.item_id)).held
    async with desk.db.transaction() as tx:
        if by == "role":
            await change_role(tx, desk.issuer, OWNER, UUID(reviewer.id), "viewer", disabled=False)
        else:
            await sign_out_everywhere(tx, desk.issuer, OWNER, UUID(reviewer.id), tokens=False)
    assert await held_by(desk, made) is None
