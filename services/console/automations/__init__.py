"""Automations: what people let the agent do by itself, at which times, until somebody takes it back (rule 28, S10)."""
