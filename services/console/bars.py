"""Charts, as templates call them."""

from shared.charts import bars

__all__ = ["bars"]
