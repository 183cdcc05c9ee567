"""The database's side of infra/bench/site_seed.py: `head` says where the gate's log stands, `fill` puts in what comes by standard input, a page a line."""

import argparse
import json
import sys
from base64 import b64decode
from pathlib import Path
from typing import Any
from uuid import UUID

import uvloop

from infra.observe.doing.session import session
from infra.postgres.settings import SUPERUSER
from schemas.text import sha256
from shared.settings import DATABASES

PORTION = 5_000
_RECEIPT = ("entry", "signature", "key_id", "statement", "statement_signature", "statement_key_id")
_LOG = (
    "seq",
    "kind",
    "entry",
    "signature",
    "key_id",
    "hash",
    "previous",
    "item_id",
    "revision",
    "statement",
    "statement_signature",
    "statement_key_id",
)
_COPY = ("seq", "hash", "kind", "item_id", *_RECEIPT)
_ROWS = ("item_id", "seq", "kind", "lang", "path", "audience", "content_hash", *_RECEIPT, "content")


async def head(state: Path) -> dict[str, Any]:
    async with session(state, SUPERUSER, DATABASES["bridge"]) as bridge:
        found = await bridge.fetchrow("SELECT seq, hash FROM core.gate_log ORDER BY seq DESC LIMIT 1")
    return {"seq": found["seq"], "hash": found["hash"]} if found else {"seq": -1, "hash": "0" * 64}


async def fill(state: Path) -> dict[str, Any]:
    waiting, count = [], 0
    for line in sys.stdin:
        waiting.append(json.loads(line))
        if len(waiting) == PORTION:
            count += await _put(state, waiting)
            waiting = []
    return {"pages": count + await _put(state, waiting)}


async def _put(state: Path, lines: list[Any]) -> int:
    if not lines:
        return 0
    log, copy, rows = [], [], []
    for seq, item, path, content_hash, *raw, gate_id, decision_id in lines:
        entry, signature, statement, statement_signature, content = map(b64decode, raw)
        told = json.loads(entry)
        hash_ = sha256(entry)
        receipt = (entry, signature, gate_id, statement, statement_signature, decision_id)
        log.append(
            (seq, "publication", entry, signature, gate_id, hash_, told["previous"], UUID(item), 1, *receipt[3:])
        )
        copy.append((seq, hash_, "publication", UUID(item), *receipt))
        rows.append((UUID(item), seq, "page", "en", path, "public", content_hash, *receipt, content))
    async with session(state, SUPERUSER, DATABASES["bridge"]) as bridge:
        await bridge.copy_records_to_table("gate_log", schema_name="core", records=log, columns=_LOG)
    async with session(state, SUPERUSER, DATABASES["site"]) as site, site.transaction():
        await site.copy_records_to_table("gate_entries", schema_name="app", records=copy, columns=_COPY)
        await site.copy_records_to_table("entries", schema_name="app", records=rows, columns=_ROWS)
        await site.execute("UPDATE app.site_state SET seq = $1, hash = $2, reported_seq = $1", copy[-1][0], copy[-1][1])
    return len(lines)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--state", type=Path, required=True)
    parser.add_argument("--part", choices=("head", "fill"), required=True)
    asked = parser.parse_args()
    print(json.dumps(uvloop.run({"head": head, "fill": fill}[asked.part](asked.state))))


if __name__ == "__main__":
    main()
