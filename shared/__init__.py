"""Mechanisms without business words: database, outbox, inbox, bus, signing, health, operator socket."""
