"""Which instruction is carried out by what this task of the process asks (S10): an automation's delegation holds for that one alone."""

from contextvars import ContextVar

instruction_hash: ContextVar[str | None] = ContextVar("instruction_hash", default=None)
"""SHA-256 in hex of the instruction; None: nobody's but the person's own words of now."""
