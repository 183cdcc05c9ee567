"""A filter of the kernel's over what this process may ask of it: no network, no other process, no change of any file.

Written as the BPF that seccomp takes, by hand, for the two processors that the servers' wheels exist for.
"""

import ctypes
import errno
import os
import platform
import struct
from collections.abc import Iterable

_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
_LD, _JEQ, _JGE, _JSET, _RET = 0x20, 0x15, 0x35, 0x45, 0x06
_NR, _ARCH, _ARGS = 0, 4, 16
_X32 = 0x40000000
_CLONE_THREAD = 0x00010000
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, PR_SET_DUMPABLE, FILTER = 38, 22, 4, 2

_AUDIT = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_SPECIAL = {"x86_64": {"clone": 56, "clone3": 435, "openat": 257, "openat2": 437, "open": 2}, "aarch64": {"clone": 220, "clone3": 435, "openat": 56, "openat2": 437}}  # fmt: skip
_REFUSED: dict[str, dict[str, int]] = {
    "x86_64": {
        "socket": 41, "connect": 42, "accept": 43, "accept4": 288, "bind": 49, "listen": 50,
        "fork": 57, "vfork": 58, "execve": 59, "execveat": 322, "ptrace": 101, "process_vm_readv": 310, "process_vm_writev": 311,
        "kill": 62, "tkill": 200, "tgkill": 234, "rt_sigqueueinfo": 129, "rt_tgsigqueueinfo": 297, "pidfd_open": 434, "pidfd_getfd": 438, "pidfd_send_signal": 424,
        "creat": 85, "unlink": 87, "unlinkat": 263, "rename": 82, "renameat": 264, "renameat2": 316, "mkdir": 83, "mkdirat": 258, "rmdir": 84,
        "link": 86, "linkat": 265, "symlink": 88, "symlinkat": 266, "mknod": 133, "mknodat": 259, "truncate": 76, "ftruncate": 77, "fallocate": 285,
        "chmod": 90, "fchmod": 91, "fchmodat": 268, "fchmodat2": 452, "chown": 92, "fchown": 93, "lchown": 94, "fchownat": 260, "utime": 132, "utimes": 235, "utimensat": 280, "futimesat": 261,
        "setxattr": 188, "lsetxattr": 189, "fsetxattr": 190, "chroot": 161, "mount": 165, "umount2": 166, "pivot_root": 155, "move_mount": 429, "open_tree": 428, "fsopen": 430,
        "unshare": 272, "setns": 308, "io_uring_setup": 425, "io_uring_enter": 426, "io_uring_register": 427, "bpf": 321, "perf_event_open": 298, "userfaultfd": 323,
        "keyctl": 250, "add_key": 248, "request_key": 249, "prlimit64": 302, "setrlimit": 160, "setpriority": 141, "sched_setaffinity": 203, "sched_setscheduler": 144, "sched_setparam": 142, "sched_setattr": 314,
        "memfd_create": 319, "inotify_init1": 294, "inotify_init": 253, "fanotify_init": 300, "shmget": 29, "shmat": 30, "msgget": 68, "semget": 64, "mq_open": 240, "name_to_handle_at": 303, "kcmp": 312, "ioprio_set": 251, "move_pages": 279, "migrate_pages": 256, "process_madvise": 440, "landlock_create_ruleset": 444,
    },
    "aarch64": {
        "socket": 198, "connect": 203, "accept": 202, "accept4": 242, "bind": 200, "listen": 201,
        "execve": 221, "execveat": 281, "ptrace": 117, "process_vm_readv": 270, "process_vm_writev": 271,
        "kill": 129, "tkill": 130, "tgkill": 131, "rt_sigqueueinfo": 138, "rt_tgsigqueueinfo": 240, "pidfd_open": 434, "pidfd_getfd": 438, "pidfd_send_signal": 424,
        "unlinkat": 35, "renameat": 38, "renameat2": 276, "mkdirat": 34, "linkat": 37, "symlinkat": 36, "mknodat": 33, "truncate": 45, "ftruncate": 46, "fallocate": 47,
        "fchmod": 52, "fchmodat": 53, "fchmodat2": 452, "fchown": 55, "fchownat": 54, "utimensat": 88, "setxattr": 5, "lsetxattr": 6, "fsetxattr": 7,
        "chroot": 51, "mount": 40, "umount2": 39, "pivot_root": 41, "move_mount": 429, "open_tree": 428, "fsopen": 430,
        "unshare": 97, "setns": 268, "io_uring_setup": 425, "io_uring_enter": 426, "io_uring_register": 427, "bpf": 280, "perf_event_open": 241, "userfaultfd": 282,
        "keyctl": 219, "add_key": 217, "request_key": 218, "prlimit64": 261, "setrlimit": 164, "setpriority": 140, "sched_setaffinity": 122, "sched_setscheduler": 119, "sched_setparam": 118, "sched_setattr": 274,
        "memfd_create": 279, "inotify_init1": 26, "fanotify_init": 262, "shmget": 194, "shmat": 196, "msgget": 186, "semget": 190, "mq_open": 180, "name_to_handle_at": 264, "kcmp": 272, "ioprio_set": 30, "move_pages": 239, "migrate_pages": 238, "process_madvise": 440, "landlock_create_ruleset": 444,
    },
}  # fmt: skip


def is_known() -> bool:
    """Whether code can be shut in on this processor."""
    return platform.machine() in _AUDIT


def shut_in() -> None:
    """From now on, for this process and its threads, for good. OSError when the kernel does not take the filter."""
    libc = ctypes.CDLL(None, use_errno=True)
    program = b"".join(_program(platform.machine()))
    buffer = ctypes.create_string_buffer(program, len(program))
    head = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(buffer))
    _call(libc.prctl(PR_SET_SECCOMP, FILTER, ctypes.c_char_p(head), 0, 0))


def no_new_privileges() -> None:
    _call(ctypes.CDLL(None, use_errno=True).prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))


def undumpable() -> None:
    """Others of the same OS user cannot look into this process."""
    _call(ctypes.CDLL(None, use_errno=True).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0))


def _call(answer: int) -> None:
    if answer != 0:
        raise OSError(ctypes.get_errno(), "the kernel does not shut this process in")


def _program(machine: str) -> Iterable[bytes]:
    special = _SPECIAL[machine]
    yield _op(_LD, _ARCH)
    yield _op(_JEQ, _AUDIT[machine], 1, 0)
    yield _op(_RET, _KILL)
    yield _op(_LD, _NR)
    if machine == "x86_64":
        yield from _when(_JGE, _X32, errno.EPERM)
    for number in _REFUSED[machine].values():
        yield from _when(_JEQ, number, errno.EPERM)
    for name in ("clone3", "openat2"):
        yield from _when(_JEQ, special[name], errno.ENOSYS)
    # another process is refused, a thread is not
    yield _op(_JEQ, special["clone"], 0, 4)
    yield _op(_LD, _ARGS)
    yield _op(_JSET, _CLONE_THREAD, 1, 0)
    yield _op(_RET, _ERRNO | errno.EPERM)
    yield _op(_RET, _ALLOW)
    for name, argument in (("openat", 2), ("open", 1)):
        if name in special:
            yield _op(_JEQ, special[name], 0, 4)
            yield _op(_LD, _ARGS + 8 * argument)
            yield _op(_JSET, _WRITING, 0, 1)
            yield _op(_RET, _ERRNO | errno.EPERM)
            yield _op(_RET, _ALLOW)
    yield _op(_RET, _ALLOW)


def _when(test: int, number: int, answer: int) -> Iterable[bytes]:
    yield _op(test, number, 0, 1)
    yield _op(_RET, _ERRNO | answer)


def _op(code: int, value: int, yes: int = 0, no: int = 0) -> bytes:
    return struct.pack("HBBI", code, yes, no, value)
