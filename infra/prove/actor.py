"""An attacker's process: makes attempts as the OS user that it runs as, and says what came of each (infra.observe.worker has the protocol).

`got` is `done` (the attempt worked), `refused` (in the way it must be), or `error` (something else happened, which proves nothing).
"""

from infra.observe.worker import KINDS as READING
from infra.observe.worker import main

KINDS = (
    "apps",
    "asking",
    "bus",
    "chain",
    "cluster",
    "connects",
    "division",
    "doors",
    "files",
    "keys",
    "leaving",
    "reference",
    "secrets",
    "sockets",
    "spool",
    "sql",
    "watch",
    "workspaces",
)

if __name__ == "__main__":
    main(READING | {kind: f"infra.prove.doing.{kind}" for kind in KINDS})
