"""Core NATS for asking (S10): requests whose answers come in many messages, and the other side of it. Nothing is stored on the way.

A lost connection loses what was under way: who asks notices by the frames' numbers, or because nobody says anything any more.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from nats.aio.msg import Msg
from nats.errors import Error as NatsError

from schemas.outward import Asker
from shared.asking.subjects import QUEUE, STEERING, ask_subjects
from shared.bus.connection import Connection
from shared.bus.wire import answer, send
from shared.errors import Transient
from shared.ids import fresh_id

NOBODY = "503"
MOST_PENDING = 256 * 1024 * 1024
Heard = Callable[["Asked"], Awaitable[None]]
Answered = Callable[[str, bytes | None], None]
"""`(name of the ask, frame)`; None: nobody is there to answer."""


@dataclass(frozen=True)
class Asked:
    """One message as the connectors hear it. `reply` is where frames of the answer go; empty for steering."""

    asker: Asker
    verb: str
    data: bytes
    reply: str


class AnswerLine:
    """The connectors' side."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def hear(self, asker: Asker, heard: Heard) -> None:
        """Everything that this asker says; requests are shared among the instances, steering goes to each."""
        for subject in ask_subjects(asker):
            verb = subject.rpartition(".")[2]
            queue = "" if verb in STEERING else QUEUE
            await self._connection.client.subscribe(
                subject, queue=queue, cb=_hearing(asker, verb, heard), pending_bytes_limit=MOST_PENDING
            )

    async def say(self, reply: str, frame: bytes) -> None:
        """Transient when the bus is away."""
        await _send(self._connection, answer(reply, frame))


def _hearing(asker: Asker, verb: str, heard: Heard) -> Callable[[Msg], Awaitable[None]]:
    async def on_message(message: Msg) -> None:
        await heard(Asked(asker, verb, message.data, message.reply))

    return on_message


class AskLine:
    """An asker's side: one inbox for all of its answers."""

    def __init__(self, connection: Connection, service: str) -> None:
        self._connection = connection
        self._inbox = f"_INBOX_{service}.ask.{fresh_id().hex}"

    async def start(self, answered: Answered) -> None:
        async def on_message(message: Msg) -> None:
            nobody = bool(message.headers) and message.headers.get("Status") == NOBODY  # type: ignore[union-attr]
            answered(message.subject.rpartition(".")[2], None if nobody else message.data)

        await self._connection.client.subscribe(
            f"{self._inbox}.*", cb=on_message, pending_msgs_limit=500_000, pending_bytes_limit=MOST_PENDING
        )

    async def ask(self, subject: str, name: str, body: bytes) -> None:
        """Frames come as `answered(name, …)`. Transient when the bus is away."""
        head = f"PUB {subject} {self._inbox}.{name} {len(body)}\r\n".encode()
        await _send(self._connection, head + body + b"\r\n")

    async def tell(self, subject: str, body: bytes) -> None:
        await _send(self._connection, answer(subject, body))


async def _send(connection: Connection, command: bytes) -> None:
    try:
        await send(connection.client, [command])
    except (NatsError, OSError, RuntimeError) as error:
        raise Transient(f"the bus is not reachable at the moment ({error}); try again", code="bus") from None
