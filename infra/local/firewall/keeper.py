"""Puts the rules in at a start, puts them back when somebody took them away, and takes them away at the stop."""

import asyncio
import os
import threading
from collections.abc import Callable, Iterable
from typing import Any

from infra.local import config as configs
from infra.local.config import Config
from infra.local.firewall import notes
from infra.local.firewall.choice import NEITHER, backends
from infra.local.firewall.rules import REFUSED, Backend, Found, Rules, rules_of, who_log_in
from infra.local.identities import NO_LOGIN
from infra.local.layout import Layout
from shared.errors import Refused

LOOKS_EVERY_S = 5.0
ONE_USER = "all parts run as one OS user, which may leave; start it as root to separate them"


class Firewall:
    """Of one supervisor. `why` says why it is off; empty while it is on."""

    def __init__(self, layout: Layout, config: Config, tell: Callable[[str], object]) -> None:
        self._layout, self._config, self._tell = layout, config, tell
        self._rules: Rules | None = None
        self._backend: Backend | None = None
        self._one_at_a_time = threading.Lock()
        self._stopped = False
        self.why = ONE_USER

    @property
    def on(self) -> bool:
        return not self.why

    def start(self) -> Config:
        """Put the rules in, and write down in config.json whether they are. Never fails: a machine that cannot do it says so and runs."""
        with self._one_at_a_time:
            if os.getuid() == 0 and not self._stopped:
                self._sweep()
                if self._config.os_separation:
                    self.why = self._shut(rules_of(self._config))
            return self._note()

    async def keep(self) -> None:
        """Until cancelled."""
        while self._backend is not None:
            await asyncio.sleep(LOOKS_EVERY_S)
            await asyncio.to_thread(self.look)

    def stop(self) -> None:
        """After every part has ended. A start or look that is still under way is waited for."""
        with self._one_at_a_time:
            self._stopped = True
            if self._rules is None or self._backend is None:
                return
            try:
                self._backend.take_away(self._rules)
                notes.forget(self._rules.name)
            except Refused as error:
                self._tell(f"the firewall's rules could not be taken away: {error.message}")

    def report(self) -> dict[str, Any]:
        return {"on": self.on, "tool": self._backend.tool if self._backend else None, "why": self.why}

    def _shut(self, rules: Rules) -> str:
        """By the first tool that can; why none could, or nothing."""
        if theirs := who_log_in(rules):
            return f"OS users of these names can log in and may be somebody's: {', '.join(theirs)} (usermod --shell {NO_LOGIN} NAME)"
        self._rules = rules
        why = NEITHER
        for each in backends():
            if not (why := self._put(each, rules)):
                self._backend = each
                return ""
        return why

    def _put(self, backend: Backend, rules: Rules) -> str:
        try:
            notes.note(rules, self._layout, backend.tool)
            backend.put(rules)
            if not (wrong := _wrong(backend.read(rules))):
                return ""
            backend.take_away(rules)
        except Refused as error:
            return error.message
        return f"{backend.tool} does not keep the rules: {wrong}"

    def look(self) -> None:
        """Put the rules back where they are not as they must be; said, each time."""
        with self._one_at_a_time:
            if self._backend is None or self._rules is None or self._stopped:
                return
            wrong, why = self._put_back(self._backend, self._rules)
            if why != self.why or (wrong and not why):
                after = f"cannot be put back: {why}" if why else "were put back"
                self._tell(f"the firewall's rules were changed ({wrong or self.why}) and {after}")
            self.why = why
            self._note()

    def _put_back(self, backend: Backend, rules: Rules) -> tuple[str, str]:
        """What was wrong, and what still is."""
        try:
            if not (wrong := _wrong(backend.read(rules))):
                return "", ""
            backend.put(rules)
            return wrong, _wrong(backend.read(rules))
        except Refused as error:
            return error.message, error.message

    def _note(self) -> Config:
        if self._config.egress_separation != self.on:
            self._config = configs.note_egress(self._layout, self._config, separated=self.on)
        return self._config

    def _sweep(self) -> None:
        for name in notes.sweep(self._config):
            self._tell(f"took away the firewall's rules {name} of an installation that does not run any more")


def _wrong(found: Found) -> str:
    return _each_once(
        f"{user or 'nobody'}, {family}: {said}" for (user, family), said in found.items() if said != REFUSED
    )


def _each_once(said: Iterable[str]) -> str:
    return "; ".join(list(said)[:3])
