"""Many published pages in a throwaway stack: entries of the gate's log and rows of the site, signed with the stack's own keys.

They are put in beside the lock, which would take most of an hour for 100,000: what is measured is a site that has them, and what it verifies
of them is as it would be.
"""

import asyncio
import json
import os
import random
import signal
from base64 import b64encode
from collections.abc import Iterator
from typing import Any

from infra.bench.approvals import Waiting
from infra.bench.target import Say, Target
from infra.local import identities
from infra.local.command import as_user, environment
from infra.local.runtime import choose
from infra.observe.keyfiles import decision_files
from schemas.content import ItemContent
from schemas.statements import Decision, GateEntry
from schemas.text import sha256
from shared.clock import now
from shared.errors import Refused
from shared.ids import fresh_id, item_id
from shared.signing import SigningKey

WORDS = 60
"""Of each page, out of 5,000: some on most pages, some on few."""
_LETTERS = ("bdfgklmnprst", "aeiou", "lmnrst")
_TEXT = "# Measured page {name}\n\nA page of the benchmark with words of its own: {words}.\n\n- one\n- two\n"


async def seed(target: Target, count: int, say: Say) -> list[Waiting]:
    """So many pages more. The site stands still meanwhile, and must be started anew."""
    if not target.own:
        raise Refused("pages are put in beside the lock in a stack of their own only")
    os.kill(target.instances("site")[0], signal.SIGSTOP)
    keys = target.layout.keys
    decider = SigningKey.load(keys / "console" / decision_files(target.layout)[0])
    gate = SigningKey.load(keys / "bridge" / "gate.key")
    head = json.loads(await _work(target, "head", b""))
    say(f"{count} pages are signed and put in")
    items, lines = list[Waiting](), list[bytes]()
    for item, line in _pages(decider, gate, head["seq"], head["hash"], count):
        items.append(item)
        lines.append(line)
    await _work(target, "fill", b"\n".join(lines))
    return items


def _pages(
    decider: SigningKey, gate: SigningKey, seq: int, previous: str, count: int
) -> Iterator[tuple[Waiting, bytes]]:
    chance, run = random.Random(7), fresh_id().hex[:8]  # noqa: S311 - the same words each time
    vocabulary = ["".join(chance.choice(each) for each in _LETTERS) + str(number) for number in range(5000)]
    for number in range(1, count + 1):
        word = f"bench{run}n{number}"
        words = " ".join(vocabulary[int(abs(chance.gauss(0, 1500))) % 5000] for _ in range(WORDS))
        content = ItemContent(title=f"Measured page {word}", body=_TEXT.format(name=word, words=words)).to_bytes()
        said = decider.sign(_decision(decider.key_id, word, sha256(content)))
        entry = GateEntry(
            key_id=gate.key_id, seq=seq + number, previous=previous, entry="publication", item_id=item_id("page", "en", word),
            statement_hash=said.hash, content_hash=sha256(content), at=now(),
        )  # fmt: skip
        signed = gate.sign(entry)
        previous = signed.hash
        row = [entry.seq, str(entry.item_id), word, sha256(content), *map(_text, (signed.payload, signed.signature, said.payload, said.signature, content))]  # fmt: skip
        yield (
            Waiting(str(entry.item_id), f"/page/en/{word}", word),
            json.dumps([*row, gate.key_id, decider.key_id]).encode(),
        )


def _decision(key_id: str, word: str, content_hash: str) -> Decision:
    return Decision(
        key_id=key_id, item_id=item_id("page", "en", word), revision=1, content_hash=content_hash, kind="page", lang="en", path=word,
        audience="public", verdict="approve", decided_at=now(), decider=sha256(b"nobody"), prior_version=1,
    )  # fmt: skip


def _text(raw: bytes) -> str:
    return b64encode(raw).decode()


async def _work(target: Target, part: str, given: bytes) -> bytes:
    """One part, as the database's own user."""
    who = identities.resolve()
    runtime = choose(target.layout, *who.owner("pgadm"))
    command = ["-m", "infra.bench.site_seed_work", "--state", str(target.layout.state), "--part", part]
    pipes: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), asyncio.subprocess.PIPE)
    process = await asyncio.create_subprocess_exec(
        *as_user(who, "pgadm", [str(runtime.python), *command]), env=environment(runtime), cwd=runtime.code, **pipes
    )
    out, said = await process.communicate(given)
    if process.returncode:
        raise Refused(f"putting pages in failed ({part}): {said.decode(errors='replace').strip()[-800:]}")
    return out
