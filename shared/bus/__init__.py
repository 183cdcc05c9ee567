"""The only package that knows NATS and FastStream."""

from shared.bus.listen import Intake, on
from shared.bus.received import Received

__all__ = ["Intake", "Received", "on"]
