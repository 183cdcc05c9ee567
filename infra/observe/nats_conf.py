"""nats.conf as data: what the server loaded, whoever wrote it and however it is laid out."""

import re
from typing import Any

_TOKEN = re.compile(
    r"""\s+|\#[^\n]*|//[^\n]*|(?P<string>"(?:[^"\\]|\\.)*"|'[^']*')|(?P<mark>[{}\[\],])|(?P<set>[:=])|(?P<word>[^\s{}\[\],:=#"']+(?::[^\s{}\[\],"']+)*)"""
)


def parse(text: str) -> dict[str, Any]:
    """Nested dicts, lists and strings. ValueError when it cannot be read."""
    tokens = [match for match in _TOKEN.finditer(text) if match.lastgroup]
    found, at = _block(tokens, 0)
    if at != len(tokens):
        raise ValueError("nats.conf closes a block that was never opened")
    return found


def _block(tokens: list[re.Match[str]], at: int) -> tuple[dict[str, Any], int]:
    found: dict[str, Any] = {}
    while at < len(tokens) and tokens[at].group() != "}":
        if tokens[at].group() == ",":
            at += 1
            continue
        key = _plain(tokens[at])
        at += 1
        if at < len(tokens) and tokens[at].lastgroup == "set":
            at += 1
        found[key], at = _value(tokens, at)
    return found, at


def _value(tokens: list[re.Match[str]], at: int) -> tuple[Any, int]:
    if at >= len(tokens):
        raise ValueError("nats.conf ends in the middle of a setting")
    text = tokens[at].group()
    if text == "{":
        block, at = _block(tokens, at + 1)
        return block, at + 1
    if text == "[":
        return _list(tokens, at + 1)
    return _plain(tokens[at]), at + 1


def _list(tokens: list[re.Match[str]], at: int) -> tuple[list[Any], int]:
    found: list[Any] = []
    while at < len(tokens) and tokens[at].group() != "]":
        if tokens[at].group() == ",":
            at += 1
            continue
        value, at = _value(tokens, at)
        found.append(value)
    return found, at + 1


def _plain(token: re.Match[str]) -> str:
    text = token.group()
    return text[1:-1] if token.lastgroup == "string" else text


def accounts(conf: dict[str, Any]) -> dict[tuple[str, str], str]:
    """{(account, right): value}: users, what they may publish and hear, exports, imports, and anything else that stands in an account."""
    found: dict[tuple[str, str], str] = {}
    for account, block in dict(conf.get("accounts", {})).items():
        for key, value in block.items() if isinstance(block, dict) else ():
            for right, said in _rights(key, value):
                found[account, right] = said
    return found


def server(conf: dict[str, Any]) -> dict[str, str]:
    """Settings of the server itself, flat."""
    return dict(_flat("", {key: value for key, value in conf.items() if key != "accounts"}))


def _rights(key: str, value: Any) -> list[tuple[str, str]]:
    if key == "users" and isinstance(value, list):
        return [line for user in value for line in _user(user)]
    if key in ("exports", "imports") and isinstance(value, list):
        return [_port(key.removesuffix("s"), each) for each in value]
    return _flat(key, value)


def _user(user: dict[str, Any]) -> list[tuple[str, str]]:
    name = user.get("nkey") or user.get("user") or "somebody"
    found = [(f"user {name}", "nkey" if "nkey" in user else "password" if "password" in user else "no key")]
    permissions = user.get("permissions", {})
    for way, rules in permissions.items():
        for rule, subjects in rules.items() if isinstance(rules, dict) else [("allow", rules)]:
            listed = subjects if isinstance(subjects, list) else [subjects]
            found += [
                (f"{name} {rule} {way}: {subject}", "yes") for subject in listed or ["everything (an empty list)"]
            ]
    for way in ("publish", "subscribe"):
        if way not in permissions:
            found.append((f"{name} allow {way}: everything (no rule)", "yes"))
    other = {key: value for key, value in user.items() if key not in ("nkey", "permissions")}
    return found + _flat(f"user {name}", {key: "set" if key == "password" else value for key, value in other.items()})


def _port(kind: str, each: dict[str, Any]) -> tuple[str, str]:
    """An export or import: its subject names it, the rest is its value."""
    for way in ("service", "stream"):
        if way in each:
            where = each[way]
            subject = where.get("subject") if isinstance(where, dict) else where
            rest = {key: value for key, value in each.items() if key != way}
            origin = {"from": where.get("account")} if isinstance(where, dict) else {}
            told = ", ".join(f"{key} {_said(value)}" for key, value in sorted((origin | rest).items()))
            return f"{kind} {way} {subject}", told or "to everybody"
    return f"{kind} {_said(each)}", "yes"


def _flat(name: str, value: Any) -> list[tuple[str, str]]:
    if isinstance(value, dict):
        return [line for key, inner in value.items() for line in _flat(f"{name} {key}".strip(), inner)]
    return [(name, _said(value))]


def _said(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(sorted(_said(each) for each in value))
    if isinstance(value, dict):
        return ", ".join(f"{key} {_said(inner)}" for key, inner in sorted(value.items()))
    return str(value)
