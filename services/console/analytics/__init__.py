"""Figures over time: what visitors did, what was called, what was spent; by Postgres, or by ClickHouse when somebody says why."""
