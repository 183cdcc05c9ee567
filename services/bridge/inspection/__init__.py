"""Inspection before the queue (S14): what a submission contains that a reviewer should know, or that stops it."""

from services.bridge.inspection.columns import Columns, ColumnShelf
from services.bridge.inspection.inspector import Inspection, Inspector
from services.bridge.inspection.known import Known, Shelf

__all__ = ["ColumnShelf", "Columns", "Inspection", "Inspector", "Known", "Shelf"]
