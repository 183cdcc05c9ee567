"""Outbox: events staged in the transaction of the change they tell of."""
