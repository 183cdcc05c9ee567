"""By nft: one table of our own, whose chain hangs at the kernel's way out. No other table can let through what it refuses."""

import json
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from infra.local.firewall.rules import DNS, FAMILIES, REFUSED, Found, Rules
from infra.local.firewall.tools import run
from shared.errors import Refused

CHAIN = "way_out"
RESET, PROHIBITED = "reject with tcp reset", "reject with icmpx admin-prohibited"
EQUAL = frozenset({"==", "in"})
"""Versions differ in which of the two they print for flags."""
Rule = tuple[str, ...]
"""The words of a rule, in the order of the alphabet."""


@dataclass(frozen=True)
class Nft:
    program: str
    tool: str = "nft"

    def put(self, rules: Rules) -> None:
        """In one step: there is no moment without rules."""
        lines = "\n".join(f"  {each}" for uid in rules.users.values() for each in _rules(uid))
        chain = f" chain {CHAIN} {{\n  type filter hook output priority 0; policy accept;\n{lines}\n }}"
        table = f"table inet {rules.name}"
        run([self.program, "-f", "-"], f"{table} {{}}\ndelete {table}\n{table} {{\n{chain}\n}}\n")

    def take_away(self, rules: Rules) -> None:
        run([self.program, "-f", "-"], f"table inet {rules.name} {{}}\ndelete table inet {rules.name}\n")

    def read(self, rules: Rules) -> Found:
        held: list[Rule] = []
        hooked = False
        with suppress(Refused):  # no such table
            said = json.loads(run([self.program, "-j", "list", "table", "inet", rules.name]))["nftables"]
            hooked = any(_hangs(each["chain"]) for each in said if "chain" in each)
            held = [_words(each["rule"]["expr"]) for each in said if each.get("rule", {}).get("chain") == CHAIN]
        return _compared(rules, held, hooked=hooked)


def _rules(uid: int) -> list[str]:
    return [
        f"meta skuid {uid} udp dport {DNS} {PROHIBITED}",
        f"meta skuid {uid} tcp dport {DNS} {RESET}",
        f'meta skuid {uid} oifname != "lo" tcp flags & (fin | syn | rst | ack) == syn {RESET}',
        f'meta skuid {uid} oifname != "lo" meta l4proto != tcp {PROHIBITED}',
    ]


def _declared(uid: int) -> list[Rule]:
    """The same, as `nft -j` says it."""
    owner, off = ("skuid", str(uid)), ("!=", "oifname", "lo")
    reset, prohibited = ("tcp reset",), ("icmpx", "admin-prohibited")
    flags = ("tcp", "flags", "fin", "syn", "rst", "ack", "syn")
    made = [(*owner, "udp", "dport", str(DNS), *prohibited), (*owner, "tcp", "dport", str(DNS), *reset)]
    made += [(*owner, *off, *flags, *reset), (*owner, *off, "!=", "l4proto", "tcp", *prohibited)]
    return [tuple(sorted(each)) for each in made]


def _compared(rules: Rules, held: list[Rule], *, hooked: bool) -> Found:
    found: Found = {}
    for user, uid in rules.users.items():
        wanted = _declared(uid)
        missing = sum(rule not in held for rule in wanted)
        held = [rule for rule in held if rule not in wanted]
        said = f"allowed: {missing} of {len(wanted)} rules are missing" if missing else REFUSED
        found |= {
            (user, family): said if hooked or missing else "allowed: the chain hangs nowhere" for family in FAMILIES
        }
    if held:
        found["", FAMILIES[0]] = f"{len(held)} rules that are not ours"
    return found


def _hangs(chain: dict[str, Any]) -> bool:
    return (chain["name"], chain.get("type"), chain.get("hook")) == (CHAIN, "filter", "output")


def _words(expression: Any) -> Rule:
    """Every value in it, whatever it is nested in; the names of the fields say nothing that the values do not."""
    found: list[str] = []
    _collect(expression, found)
    return tuple(sorted(word for word in found if word not in EQUAL))


def _collect(value: Any, into: list[str]) -> None:
    if isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            _collect(each, into)
        into.extend(
            name
            for name in (value if isinstance(value, dict) else ())
            if name in ("accept", "drop", "return", "jump", "goto")
        )
    elif value is not None:
        into.append(str(value))
