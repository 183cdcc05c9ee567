"""What an operator should know first, in words, worst first. Pure: from a sample and the one before."""

from typing import Any

from infra.local.instances import base_of, is_service
from shared.figures import age

BEHIND = 20
"""Events that may wait for a reader without anybody minding."""
LATE_SECONDS = 5.0
LATE_TASKS = 30.0
FULL = 0.8
DISK_FULL, DISK_FREE = 0.9, 1024**3
OLD_TRANSACTION = 300
HEAD_LATE, HEAD_STOP = 2 * 3600, 24 * 3600
OLD_BACKUP = 8 * 86400
OF_POSTGRES, OF_BUS = ("database", "relay", "intake"), ("bus", "relay", "intake")
"""Beginnings of what services say when a server is away: its own line says it once."""
Figures = dict[str, Any]
Problem = dict[str, str]


def problems(now: Figures, before: Figures | None) -> list[Problem]:
    """[{"tone": "stop" (something does not work) or "wait" (look at it), "text", "hint"}]. A server that is away stands for what others say of that."""
    if not now["parts"]:
        return [_stop("the supervisor does not answer", "schleuse status")]
    found = [*_servers(now), *_parts(now), *_chains(now, before), *_tasks(now, before), *_room(now)]
    return sorted(found, key=lambda problem: problem["tone"] != "stop")


def _stop(text: str, hint: str = "") -> Problem:
    return {"tone": "stop", "text": text, "hint": hint}


def _wait(text: str, hint: str = "") -> Problem:
    return {"tone": "wait", "text": text, "hint": hint}


def _parts(now: Figures) -> list[Problem]:
    found: list[Problem] = []
    away = (*(OF_POSTGRES if now["postgres"]["used"] is None else ()), *(OF_BUS if now["readers"] is None else ()))
    for name, part in now["parts"].items():
        if not part["ready"]:
            says = "does not answer" if part["state"] == "silent" else f"is {part['state']}"
            found.append(_stop(f"{name} {says}", f"schleuse logs {name}"))
        found += [_stop(f"{name}: {red}", f"schleuse logs {name}") for red in part["red"] if part["ready"] and not red.startswith(away)]  # fmt: skip
        found += _counted(name, part)
    lag = {base_of(name): part["lag"] for name, part in now["parts"].items() if is_service(name)}
    return found + [_wait(f"{name} is {count} events behind") for name, count in lag.items() if count and count >= BEHIND]  # fmt: skip


def _counted(name: str, part: Figures) -> list[Problem]:
    found = []
    if part["parked"]:
        found.append(_wait(f"{part['parked']} parked at {name}", "schleuse parked list"))
    if part["unsent"] and (part["oldest"] or 0) > LATE_SECONDS:
        found.append(_wait(f"{name} has {part['unsent']} events to send, the oldest for {age(part['oldest'])}"))
    if part["postgres"] and part["postgres"][1] and part["postgres"][0] >= FULL * part["postgres"][1]:
        found.append(_wait(f"{base_of(name)} uses {part['postgres'][0]} of {part['postgres'][1]} connections"))
    return found


def _servers(now: Figures) -> list[Problem]:
    found: list[Problem] = []
    parts, postgres = now["parts"], now["postgres"]
    if postgres["used"] is None and parts.get("postgres", {"ready": True})["ready"]:
        found.append(_stop("Postgres does not answer", "schleuse logs postgres"))
    if now["readers"] is None and parts.get("nats", {"ready": True})["ready"]:
        found.append(_stop("the bus does not answer", "schleuse logs nats"))
    if (postgres["oldest_transaction"] or 0) > OLD_TRANSACTION:
        found.append(_wait(f"a transaction has been open for {age(postgres['oldest_transaction'])}"))
    if postgres["used"] and postgres["limit"] and postgres["used"] >= FULL * postgres["limit"]:
        found.append(_wait(f"Postgres has {postgres['used']} of {postgres['limit']} connections in use"))
    return found


def _chains(now: Figures, before: Figures | None) -> list[Problem]:
    found: list[Problem] = []
    gate, audit = now["gate"] or {}, now["audit"] or {}
    for says, chain, command in (
        ("the gate’s log", gate, "schleuse prove --area chain"),
        ("the call audit", audit, "schleuse audit verify"),
    ):
        if chain.get("whole") is False:
            found.append(_stop(f"{says} is broken", command))
    if gate.get("behind") and before and (before["gate"] or {}).get("behind"):
        found.append(_stop(f"the site is {gate['behind']} entries behind the gate’s log", "schleuse logs site"))
    head = gate.get("head_age") or 0
    if head > HEAD_STOP:
        found.append(
            _stop(f"the site’s newest signed head is {age(head)} old: it shows nothing", "schleuse logs bridge")
        )
    elif head > HEAD_LATE:
        found.append(_wait(f"the site’s newest signed head is {age(head)} old; at 24 h it stops showing pages"))
    return found


def _tasks(now: Figures, before: Figures | None) -> list[Problem]:
    """Nobody at one look may be somebody who takes over just now; nobody at two is worth a word."""
    tasks, earlier = now.get("tasks"), (before or {}).get("tasks")
    if tasks is None:
        return []
    if tasks["by"] is None and earlier is not None and earlier["by"] is None:
        return [_wait("nobody fires tasks", "schleuse logs agent")]
    if tasks["late"] and tasks["late_s"] > LATE_TASKS:
        return [_wait(f"{tasks['late']} tasks are late, the oldest for {age(tasks['late_s'])}", "schleuse logs agent")]
    return []


def _room(now: Figures) -> list[Problem]:
    disk = now["disk"]
    used = 1 - disk["free"] / disk["total"]
    found = [
        _wait(f"{each['name']} holds {100 * each['bytes'] / each['limit']:.0f} % of what it may")
        for each in now["streams"] or []
        if each["limit"] and each["limit"] > 0 and each["bytes"] >= FULL * each["limit"]
    ]
    if used >= DISK_FULL or disk["free"] < DISK_FREE:
        found.append(_wait(f"disk {100 * used:.0f} %, {disk['free'] / 1024**3:.1f} GiB free"))
    if (now["backup_age"] or 0) > OLD_BACKUP:
        found.append(_wait(f"the newest backup is {age(now['backup_age'])} old", "schleuse backup"))
    return found
