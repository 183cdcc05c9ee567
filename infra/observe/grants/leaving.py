"""Who may leave this machine, by what the kernel's firewall says now."""

from infra.local import control
from infra.local.firewall.choice import backend
from infra.local.firewall.rules import REFUSED, rules_of
from infra.observe.grants.line import Key, Line, State, compare
from infra.observe.installation import Installation
from shared.errors import Refused


async def read_leaving(here: Installation) -> list[Line]:
    if not here.separated:
        return [_open("one OS user cannot be told from another; install as root to keep all but connectors in")]
    told = control.ask(here.layout, "status").get("egress", {})
    if not told.get("on"):
        return [_open(told.get("why", ""))]
    used = backend(told["tool"])
    if used is None:
        raise Refused(f"{told['tool']} is not installed any more", code="firewall")
    found = used.read(rules_of(here.config))
    expected = {_key(user, family): REFUSED for user, family in found if user}
    return compare("users", expected, {_key(*key): said for key, said in found.items()}, advise)


def _open(why: str) -> Line:
    return Line("users", "installation", "leaving this machine", "connectors alone", "every part", "open", why)


def advise(_: str, what: str, state: State) -> str:
    if state == "extra":
        return "somebody put a rule into our chain: find out who; a start makes it anew"
    return "the supervisor puts rules back within seconds: look again, then into logs/supervisor.log"


def _key(user: str, family: str) -> Key:
    surface = {"pgadm": "postgres", "": "installation"}.get(user, user)
    return surface, f"leaving this machine over {family}{'' if user else ': other rules'}"
