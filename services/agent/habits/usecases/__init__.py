"""What can be done with behavior and virtual tools."""

from services.agent.habits.usecases.change_behavior import change_behavior
from services.agent.habits.usecases.delete_tool import delete_tool
from services.agent.habits.usecases.make_tool import make_tool
from services.agent.habits.usecases.switch_tool import switch_tool
from services.agent.habits.usecases.undo_behavior import undo_behavior

__all__ = ["change_behavior", "delete_tool", "make_tool", "switch_tool", "undo_behavior"]
