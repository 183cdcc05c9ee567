"""What the inspecting child takes from itself before it reads a hostile text. Linux only."""

import ctypes
import os
import resource

MEMORY = 512 * 1024 * 1024
CPU_TOTAL = 600
"""CPU seconds of one child's life; the bridge replaces it long before."""
_PR_SET_DUMPABLE = 4
_PR_SET_NO_NEW_PRIVS = 38


def lock_down() -> None:
    """No new file, socket or process, no growing file, no core, bounded memory, no privileges by exec.

    Everything that is needed must be imported and opened before. OSError when the kernel refuses.
    """
    os.closerange(3, 4096)
    for what, value in (
        (resource.RLIMIT_AS, MEMORY),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_NPROC, 0),
        (resource.RLIMIT_CPU, CPU_TOTAL),
        (resource.RLIMIT_NOFILE, 3),
    ):
        resource.setrlimit(what, (value, value))
    libc = ctypes.CDLL(None, use_errno=True)
    for option, value in ((_PR_SET_NO_NEW_PRIVS, 1), (_PR_SET_DUMPABLE, 0)):
        if libc.prctl(option, value, 0, 0, 0) != 0:
            raise OSError(ctypes.get_errno(), f"prctl {option} was refused")


def allow_cpu(seconds: int) -> None:
    """Let the kernel end this process when it uses more than `seconds` of CPU from now on."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    until = int(usage.ru_utime + usage.ru_stime) + seconds + 1
    resource.setrlimit(resource.RLIMIT_CPU, (min(until, CPU_TOTAL), CPU_TOTAL))
