"""record_interactions   keep what visitors did, row by row
roll_up               answer a question, by the engine that was asked for
sync_warehouse        tell ClickHouse what changed
rebuild_warehouse     tell it everything again
"""
