"""What can be done with lessons."""

from services.agent.lessons.usecases.add_lesson import add_lesson
from services.agent.lessons.usecases.drop_lesson import drop_lesson
from services.agent.lessons.usecases.split_anew import split_anew

__all__ = ["add_lesson", "drop_lesson", "split_anew"]
