"""ClickHouse in a process of its own: embedded (chDB), or a client of a server. Nothing else here imports its driver.

It holds a copy and can be lost: what it does not have it is told again.
"""
