"""Probes of the kernel: namespaces, mounts, system calls, privileges."""

import ctypes
import errno
import os
import subprocess
import tempfile

from attack import Refused

LIBRARY = ctypes.CDLL(None, use_errno=True)
NAMESPACES = {
    "user": 0x10000000, "net": 0x40000000, "mount": 0x20000, "pid": 0x20000000, "ipc": 0x08000000, "uts": 0x04000000,
    "cgroup": 0x02000000,
}
# System calls of x86-64 that change the machine, with arguments that change nothing. With the right to call them, they
# return another error than EPERM.
CALLS = {"bpf": (321, 0, 0, 0), "keyctl": (250, 0, -3, 1), "umount2": (166, b"/nonexistent\0", 0)}
# Errors that refuse a call: without the right, or without the call.
REFUSALS = (errno.EPERM, errno.EACCES, errno.ENOSYS)


def check(result):
    """Raises OSError after a failed call."""
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def new_cgroup():
    """Creates a group in each hierarchy of cgroups, and removes it. With version 1, hierarchies are subdirectories."""
    root = "/sys/fs/cgroup"
    hierarchies = [path for path, _, files in os.walk(root) if "cgroup.procs" in files and path.count("/") <= 5]
    for path in hierarchies or [root]:
        try:
            os.mkdir(f"{path}/attack")
        except OSError as error:
            last = error
        else:
            os.rmdir(f"{path}/attack")
            return f"{path}/attack can be created"
    raise last


def call(name):
    """Calls this function of the kernel. Any answer except a refusal is gained."""
    number, *arguments = CALLS[name]
    result = LIBRARY.syscall(number, *(ctypes.c_long(each) if isinstance(each, int) else each for each in arguments))
    error = ctypes.get_errno() if result < 0 else 0
    if error in REFUSALS:
        raise OSError(error, os.strerror(error))
    return f"{name} answers {os.strerror(error) if error else result}"


def new_namespace(kind):
    check(LIBRARY.unshare(NAMESPACES[kind]))
    return f"a new {kind} namespace"


def cloned_namespace(kind):
    """Creates a process in a namespace of this kind, by clone and by clone3."""
    flags = NAMESPACES[kind] | 17
    arguments = (ctypes.c_uint64 * 11)(NAMESPACES[kind], 0, 0, 0, 17)
    for number, words in ((56, (ctypes.c_long(flags), 0, 0, 0, 0)), (435, (arguments, ctypes.c_long(88)))):
        made = LIBRARY.syscall(number, *words)
        if made == 0:
            os._exit(0)
        if made > 0:
            os.waitpid(made, 0)
            return f"a process in a new {kind} namespace"
    check(-1)


def mount(kind):
    """Mounts a file system of this kind on a folder of its own, or the root on it."""
    with tempfile.TemporaryDirectory() as folder:
        flags = 4096 if kind == "bind" else 0
        source = b"/" if kind == "bind" else kind.encode()
        check(LIBRARY.mount(source, folder.encode(), kind.encode(), ctypes.c_ulong(flags), None))
        LIBRARY.umount2(folder.encode(), 2)
        return f"{kind} is mounted"


def remount(path):
    check(LIBRARY.mount(b"none", path.encode(), None, ctypes.c_ulong(32 | 4096), None))
    return f"{path} is remounted"


def setuid(program="/usr/local/bin/become-root"):
    done = subprocess.run([program], capture_output=True, text=True)
    if done.returncode != 0:
        raise Refused(done.stdout + done.stderr)
    return done.stdout


def file_capability(program="/usr/local/bin/open-raw"):
    """Runs a program whose file has the capability for raw sockets."""
    done = subprocess.run([program, "raw"], capture_output=True, text=True)
    if done.returncode != 0:
        raise Refused(done.stdout + done.stderr)
    return "a raw socket"


def privileges(allowed=""):
    """Gains capabilities that this process has, or can have, except those of the list of numbers."""
    wanted = sum(1 << int(each) for each in allowed.split(",") if each)
    with open("/proc/self/status") as file:
        status = {name: value.strip() for name, _, value in (line.partition(":") for line in file)}
    sets = {name: int(status[name], 16) & ~wanted for name in ("CapPrm", "CapEff", "CapBnd", "CapInh", "CapAmb")}
    extra = {name: f"{value:x}" for name, value in sets.items() if value}
    if status["Seccomp"] != "2":
        extra["Seccomp"] = status["Seccomp"]
    if status["NoNewPrivs"] != "1":
        extra["NoNewPrivs"] = status["NoNewPrivs"]
    if not extra:
        raise Refused("no capability, system calls are filtered, no new privileges")
    return extra


def raise_limit(name, value):
    import resource

    try:
        resource.setrlimit(getattr(resource, name), (int(value), int(value)))
    except ValueError as error:
        raise Refused(str(error)) from None
    return f"{name} is {value}"


def priority():
    os.setpriority(os.PRIO_PROCESS, 0, -10)
    return "priority -10"


def realtime():
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    return "real-time scheduling"
