"""The parts about tasks, wired: who keeps them, who fires them."""

from dataclasses import dataclass

from services.agent.tasks.kept import KeptRuns, KeptTasks
from services.agent.tasks.leasing.lease import TaskLease
from services.agent.tasks.loop import OnFired, TaskLoop
from shared.db import Database
from shared.lifecycle import Service

SOONER, FREE = "tasks sooner", "task lease free"
"""Notices: something may be due sooner; the lease was handed back."""


@dataclass(frozen=True)
class TaskParts:
    """`loop.on_fired` and `loop.runner` are set by whoever tells people, and runs automations; `runs` is what a runner says it by."""

    tasks: KeptTasks
    runs: KeptRuns
    loop: TaskLoop
    lease: TaskLease


def make_tasks(service: Service, db: Database, worker: str, hear: OnFired) -> TaskParts:
    """Lease and loop are parts of the service afterwards. `worker` names this start of the process (conversations/recovery.py says that it lives). `hear` is
    called for an owner of whom reminders were fired."""
    part, notices = service.settings.part, service.notices
    lease = TaskLease(db, worker, part)
    runs = KeptRuns(db)
    loop = TaskLoop(db, lease, runs, worker, part)

    def sooner() -> None:
        loop.wake()
        notices.tell(SOONER)

    notices.on(SOONER, lambda _: loop.wake())
    notices.on(FREE, lambda _: lease.nudge())
    lease.taken, lease.handed_back = loop.wake, lambda: notices.tell(FREE)
    runs.wake = sooner
    loop.on_fired.append(hear)
    service.part(lease)
    service.part(loop)
    service.health.counters |= {
        "tasks_loop": lambda: int(lease.fence is not None),
        "tasks_fence": lambda: lease.fence or 0,
        "tasks_fired": lambda: loop.fired,
        "tasks_late": lambda: loop.late if lease.fence is not None else 0,
        "tasks_late_s": lambda: round(loop.late_s) if lease.fence is not None else 0,
    }
    return TaskParts(KeptTasks(db, sooner), runs, loop, lease)
