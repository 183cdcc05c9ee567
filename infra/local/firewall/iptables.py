"""By iptables and ip6tables: one chain of our own in each, to which OUTPUT leads first."""

import shlex
from contextlib import suppress
from dataclasses import dataclass

from infra.local.firewall.rules import DNS, REFUSED, Found, Rules
from infra.local.firewall.tools import run
from shared.errors import Refused

PROHIBITED = {"IPv4": "icmp-admin-prohibited", "IPv6": "icmp6-adm-prohibited"}
NEW_TCP = "-p tcp --tcp-flags FIN,SYN,RST,ACK SYN"
WAIT = ("-w", "5")
Rule = frozenset[tuple[str, str]]
"""Flag (with its `!`) and value; the order in which a version prints them says nothing."""


@dataclass(frozen=True)
class Iptables:
    """`programs`: where iptables and ip6tables are, by family."""

    programs: dict[str, str]
    tool: str = "iptables"

    def put(self, rules: Rules) -> None:
        for family, program in self.programs.items():
            lines = [f"-A {rules.name} {each}" for uid in rules.users.values() for each in _rules(uid, family)]
            script = "\n".join(("*filter", f":{rules.name} - [0:0]", *lines, "COMMIT", ""))
            run([f"{program}-restore", *WAIT, "--noflush"], script)
            if not _is_reached(rules.name, run([program, *WAIT, "-S", "OUTPUT"]).splitlines()):
                self._unlink(program, rules)
                run([program, *WAIT, "-I", "OUTPUT", "1", "-j", rules.name])

    def take_away(self, rules: Rules) -> None:
        for program in self.programs.values():
            self._unlink(program, rules)
            with suppress(Refused):
                run([program, *WAIT, "-F", rules.name])
                run([program, *WAIT, "-X", rules.name])
        if any(f"-N {rules.name}" in run([program, *WAIT, "-S"]).splitlines() for program in self.programs.values()):
            raise Refused(f"the firewall's chain {rules.name} could not be removed; see iptables -S", code="firewall")

    def read(self, rules: Rules) -> Found:
        found: Found = {}
        for family, program in self.programs.items():
            said = run([program, *WAIT, "-S"]).splitlines()
            found |= _compared(rules, family, said)
        return found

    def _unlink(self, program: str, rules: Rules) -> None:
        with suppress(Refused):  # until there is no such rule any more
            while True:
                run([program, *WAIT, "-D", "OUTPUT", "-j", rules.name])


def _rules(uid: int, family: str) -> list[str]:
    owner = f"-m owner --uid-owner {uid}"
    reset, prohibited = (f"-j REJECT --reject-with {how}" for how in ("tcp-reset", PROHIBITED[family]))
    return [
        f"{owner} -p udp --dport {DNS} {prohibited}",
        f"{owner} -p tcp --dport {DNS} {reset}",
        f"{owner} ! -o lo {NEW_TCP} {reset}",
        f"{owner} ! -o lo ! -p tcp {prohibited}",
    ]


def _compared(rules: Rules, family: str, said: list[str]) -> Found:
    """What is there, user by user, beside what must be."""
    held = [_parsed(line.removeprefix(f"-A {rules.name} ")) for line in said if line.startswith(f"-A {rules.name} ")]
    unreached = "" if _is_reached(rules.name, said) else "allowed: the chain is not what OUTPUT leads to first"
    found: Found = {}
    for user, uid in rules.users.items():
        wanted = [_parsed(each) for each in _rules(uid, family)]
        missing = sum(rule not in held for rule in wanted)
        held = [rule for rule in held if rule not in wanted]
        found[user, family] = unreached or (
            f"allowed: {missing} of {len(wanted)} rules are missing" if missing else REFUSED
        )
    if held:
        found["", family] = f"{len(held)} rules that are not ours"
    return found


def _is_reached(name: str, said: list[str]) -> bool:
    """Only chains like ours may come before it: an ACCEPT would let packets out unseen."""
    before = [line for line in said if line.startswith("-A OUTPUT ")]
    ours = f"-A OUTPUT -j {name}"
    return ours in before and all(line.startswith("-A OUTPUT -j schleuse-") for line in before[: before.index(ours)])


def _parsed(rule: str) -> Rule:
    words, found = shlex.split(rule), []
    while words:
        negated = words[0] == "!"
        flag = words[negated]
        values = 1 + negated
        while values < len(words) and not words[values].startswith("-") and words[values] != "!":
            values += 1
        if flag not in ("-m", "--comment"):
            found.append(("!" * negated + flag, " ".join(words[1 + negated : values])))
        words = words[values:]
    return frozenset(found)
