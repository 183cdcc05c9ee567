"""Events that the agent reads: none yet. Visitors' text never comes here by itself, and no event lets the agent decide."""


class AgentIntake:
    """No handlers."""
