"""Everything that shuts the process of an app in, in the order in which it must be done."""

import resource

from infra.apps import landlock, seccomp

MEMORY = 512 * 1024 * 1024
"""Bytes of address space; a job or page that needs more gets a MemoryError."""
CPU_SECONDS = 3600
"""Of a process in its whole life; then it is ended, and the next request begins another."""
LIMITS = {
    resource.RLIMIT_AS: MEMORY,
    resource.RLIMIT_CPU: CPU_SECONDS,
    resource.RLIMIT_FSIZE: 0,
    resource.RLIMIT_CORE: 0,
    resource.RLIMIT_NOFILE: 64,
    resource.RLIMIT_NPROC: 512,
    resource.RLIMIT_MEMLOCK: 0,
}


def confine() -> None:
    """For good. OSError where the kernel does not do it: then no code of an app is run."""
    if not seccomp.is_known():
        raise OSError("this processor is none that code of apps can be shut in on (x86-64 and aarch64 are)")
    seccomp.undumpable()
    for which, most in LIMITS.items():
        resource.setrlimit(which, (most, most))
    seccomp.no_new_privileges()
    landlock.shut_in()
    seccomp.shut_in()
