"""Which of the kernel's tools this machine has."""

from collections.abc import Callable, Iterator
from pathlib import Path

from infra.local.firewall.iptables import Iptables
from infra.local.firewall.nft import Nft
from infra.local.firewall.rules import FAMILIES, Backend
from infra.local.firewall.tools import find

IPV6 = Path("/proc/net/if_inet6")
NEITHER = "neither nft nor iptables is installed (on Debian: apt-get install nftables)"


def backends(find_tool: Callable[[str], str | None] = find) -> Iterator[Backend]:
    """The better one first; none when there is no tool."""
    if program := find_tool("nft"):
        yield Nft(program)
    names = dict(zip(FAMILIES, ("iptables", "ip6tables"), strict=True))
    wanted = {family: name for family, name in names.items() if family == "IPv4" or IPV6.exists()}
    programs = {
        family: program
        for family, name in wanted.items()
        if (program := find_tool(name)) and find_tool(f"{name}-restore")
    }
    if len(programs) == len(wanted):  # half a wall is none
        yield Iptables(programs)


def backend(tool: str) -> Backend | None:
    return next((each for each in backends() if each.tool == tool), None)
