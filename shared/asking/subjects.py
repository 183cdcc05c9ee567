"""The subjects of asking (S10): who asks is a token of the subject, which only that service's account can say."""

from schemas.outward import ASKERS

ANSWERED = ("call", "http", "search_audit")
"""Requests with an answer in frames. One instance of the connectors takes each."""
STEERING = ("send", "more", "cancel")
"""About a running request, without an answer: more of its body, room for its answer, its end. Every instance hears them."""
VERBS = (*ANSWERED, *STEERING)
QUEUE = "connectors"
ANSWERS = "_R_.>"
"""Where the server of the bus takes answers in the connectors' account: it writes each asker's reply subject into one of its own."""


def ask_subject(asker: str, verb: str) -> str:
    return f"ask.connectors.{asker}.{verb}"


def ask_subjects(asker: str) -> tuple[str, ...]:
    """Everything that one asker may say to the connectors."""
    return tuple(ask_subject(asker, verb) for verb in VERBS) if asker in ASKERS else ()


def heard_subjects() -> tuple[str, ...]:
    """Everything that the connectors hear."""
    return tuple(subject for asker in ASKERS for subject in ask_subjects(asker))
