"""Events that the connectors read: none yet."""


class ConnectorsIntake:
    """No handlers."""
