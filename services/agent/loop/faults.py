"""What went wrong with a model, in words that say what to do, and whether asking again may help."""

import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import httpx2
from pydantic_ai.exceptions import (
    AgentRunError,
    ContentFilterError,
    ModelAPIError,
    ModelAuthenticationError,
    ModelConnectionError,
    ModelContextWindowExceededError,
    ModelHTTPError,
    ModelNotFoundError,
    ModelQuotaExceededError,
    ModelRateLimitError,
    ModelTimeoutError,
    OutputTokenLimitExceeded,
    UnexpectedModelBehavior,
)

from services.agent.loop.figures import of_error
from services.agent.spend.domain import Figures
from shared.errors import Permanent, Refused, SchleuseError, Transient

FIRST_WAIT, LONGEST_WAIT = 0.5, 20.0
"""Seconds before a request is made again, twice as long each time, or as long as the provider says."""
WORDS: tuple[tuple[type[BaseException], str], ...] = (
    (ModelQuotaExceededError, "The provider's account has no credit left; top it up there"),
    (ModelRateLimitError, "The provider takes no more requests now; try again in a minute"),
    (ModelContextWindowExceededError, "This conversation is too long for the model; begin a new one"),
    (
        ModelAuthenticationError,
        "The provider does not accept the key; an owner has to rotate the secret of the connector",
    ),
    (ModelNotFoundError, "The provider has no such model; an owner has to choose another under Switches"),
    (ModelTimeoutError, "The provider did not answer in time; try again"),
    (ModelConnectionError, "The connection to the provider was lost; try again"),
    (ContentFilterError, "The provider refused to answer this"),
    (OutputTokenLimitExceeded, "The answer reached its longest length before it was complete; ask for less at once"),
    (UnexpectedModelBehavior, "The model's answer could not be read; try again"),
)


def causes(error: BaseException | None) -> Iterator[BaseException]:
    """The error, and what it came from."""
    while error is not None:
        yield error
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)


def ours(error: BaseException) -> SchleuseError | None:
    """What this workplace said no to (the ledger, the connectors), inside whatever a client wrapped it in."""
    return next((each for each in causes(error) if isinstance(each, SchleuseError)), None)


def may_retry(error: BaseException) -> bool:
    """Before anything of the answer came, and where the same request may get one."""
    said = ours(error)
    if said is not None:
        return (
            isinstance(said, Transient) and said.code not in {"stopping", "away"} and isinstance(error, ModelAPIError)
        )
    if isinstance(error, ModelQuotaExceededError):
        return False
    if isinstance(error, ModelHTTPError):
        return error.status_code in {408, 409, 429} or error.status_code >= 500
    return isinstance(error, ModelConnectionError)


def wait_before(error: ModelAPIError, tried: int) -> float:
    return min(error.retry_after or FIRST_WAIT * 2 ** (tried - 1), LONGEST_WAIT)


def billed(error: BaseException) -> Figures | None:
    """What the provider says that it used although it failed."""
    return next((found for each in causes(error) for body in _bodies(each) if (found := of_error(body))), None)


def _bodies(error: BaseException) -> Iterator[object]:
    """What came with an error: what the client took out of it, and the whole of the answer."""
    yield getattr(error, "body", None)
    response = getattr(error, "response", None)
    if isinstance(response, httpx2.Response) and response.is_stream_consumed:
        with suppress(ValueError, RecursionError, httpx2.StreamError):
            yield json.loads(response.content)


def words_of(error: BaseException) -> str | None:
    """One sentence or two for whoever asked. None for what is no model's failure."""
    said = ours(error)
    if said is not None:
        return said.message
    for kind, words in WORDS:
        if isinstance(error, kind):
            return words + _status(error) + "."
    if isinstance(error, ModelAPIError):
        return f"The provider cannot answer now{_status(error)}; try again."
    return None


@contextmanager
def in_words() -> Iterator[None]:
    """A model's failure becomes what is said of it: our own no (the ledger's, the connectors'), or Permanent (code `model`)."""
    try:
        yield
    except AgentRunError as error:
        said = ours(error) or Permanent(words_of(error) or "The model failed; try again.", code="model")
        raise said from error


def is_refusal(error: BaseException) -> bool:
    """Not let through by a rule (cap, price, no delegation), in contrast to tried and failed."""
    return isinstance(ours(error), Refused)


def _status(error: BaseException) -> str:
    return f" (status {error.status_code})" if isinstance(error, ModelHTTPError) else ""
