"""What a start does once the servers answer and before the services begin. Every step can run again."""

import asyncio
from collections.abc import Callable

import nats.errors

from infra.local.command import as_user, environment
from infra.local.prepare import Prepared
from infra.nats.provision import provision
from shared.errors import Refused


async def postgres(prepared: Prepared, log: Callable[[str], None]) -> None:
    """Roles, databases, protected tables, as the superuser's OS user. Refused with the last thing it said."""
    python, state = str(prepared.runtime.python), str(prepared.layout.state)
    command = [python, "-m", "infra.postgres.provision", "--state", state]
    process = await asyncio.create_subprocess_exec(
        *as_user(prepared.who, "pgadm", command), env=environment(prepared.runtime), cwd=prepared.runtime.code,
        stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    _, said = await process.communicate()
    if process.returncode:
        text = said.decode(errors="replace").strip()
        log(f"provisioning: {text}")
        last = text.splitlines()[-1] if text else "no message"
        raise Refused(f"provisioning the databases failed: {last}", code="provision")


async def bus(prepared: Prepared) -> None:
    """Streams and durables."""
    layout, config = prepared.layout, prepared.config
    ports = config.bus_ports if config.cluster else config.ports["nats"]
    try:
        await provision(ports, layout.tls / "ca.pem", layout.admin_seed)
    except (nats.errors.Error, TimeoutError) as error:
        raise Refused(f"provisioning the bus failed: {error or 'it did not answer'}", code="provision") from None
