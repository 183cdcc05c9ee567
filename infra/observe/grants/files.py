"""Files, folders and sockets of the state directory: owner, group, mode."""

import re
from pathlib import Path

from infra.local.instances import base_of
from infra.observe.grants.line import Key, Line, State, compare
from infra.observe.installation import Installation
from infra.observe.lying import allowed, facts, required, walk
from infra.observe.processes import group_name, user_name
from schemas.catalogue import SERVICES

IN_THE_MAKING = ".new-"
"""The name of a file that is about to replace another one."""


async def read_files(here: Installation) -> list[Line]:
    expected = {_key(here, path): _named(said) for path, said in required(here)}
    sometimes = [(re.compile(pattern), said) for pattern, said in allowed(here)]
    found: dict[Key, str] = {}
    for path in (here.layout.state, *walk(here.layout.state)):
        if path.name.startswith(IN_THE_MAKING):
            continue
        try:
            key, said = _key(here, path), _named(facts(path))
        except FileNotFoundError:
            continue
        found[key] = said
        may_be = next((said for pattern, said in sometimes if pattern.fullmatch(_below(here, path))), None)
        if key not in expected and may_be is not None:
            expected[key] = _named(may_be)
    state = here.layout.state

    def advise(_: str, what: str, state_of_it: State) -> str:
        place = state if what == "the state directory" else state / what
        if state_of_it == "missing":
            return "a start makes it: `schleuse down`, `schleuse up`"
        if state_of_it == "extra":
            return f"no part of ours makes it: look at it, then remove {place}"
        owner, mode = expected[_key(here, place)].split(" ")[:2]
        return f"chown -h {owner} {place} && chmod {mode} {place}"

    return compare("files", expected, found, advise)


def _key(here: Installation, path: Path) -> Key:
    name = _below(here, path)
    return _surface(name), name or "the state directory"


def _below(here: Installation, path: Path) -> str:
    name = str(path.relative_to(here.layout.state))
    return "" if name == "." else name


def _surface(name: str) -> str:
    """Whose it is, by where it lies."""
    parts = name.split("/")
    if parts[0] in ("keys", "run") and len(parts) > 1:
        owner = base_of(parts[1].removesuffix(".pub.json"))
        return owner if owner in SERVICES else "postgres" if parts[1] == "pg" else "installation"
    return {
        "pg": "postgres",
        "nats": "nats",
        "tls": "nats",
        "secrets": "connectors",
        "workspace": "agent",
        "spool": "agent",
    }.get(parts[0], "installation")


def _named(said: str) -> str:
    """`0 0 755` -> `root:root 755`."""
    uid, gid, *mode = said.split(" ")
    return " ".join([f"{user_name(int(uid))}:{group_name(int(gid))}", *mode])
