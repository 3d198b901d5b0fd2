"""Probes of processes: foreign processes, their memory, environment and descriptors."""

import contextlib
import ctypes
import os
import pathlib
import signal

from attack import Refused, refuse


def commands():
    """Returns the command lines of all visible processes: {pid: command line}."""
    found = {}
    for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            found[int(path.parent.name)] = path.read_bytes().replace(b"\0", b" ").decode(errors="replace")
    return found


def process_named(text):
    """Gains processes whose command line has this text, except this probe."""
    found = [f"{pid}: {line}" for pid, line in commands().items() if text in line and "-m attack" not in line]
    return found or refuse(f"no visible process has {text}")


def trace(text):
    pids = [pid for pid, line in commands().items() if text in line and "-m attack" not in line]
    for pid in pids:
        library = ctypes.CDLL(None, use_errno=True)
        if library.ptrace(0x4206, pid, 0, 0) == 0:
            return f"attached to {pid}"
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    raise Refused(f"no visible process has {text}")


def environment(text):
    """Gains visible environments that have this text."""
    found = []
    for path in pathlib.Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):
            found += [f"{path}: {each}" for each in path.read_bytes().decode(errors="replace").split("\0") if text in each]
    return found or refuse(f"no environment has {text}")


def inherited_descriptors():
    """Gains descriptors of process 1 beyond standard input and output, the app's listener and its connections."""
    found = []
    for link in pathlib.Path("/proc/1/fd").iterdir():
        with contextlib.suppress(OSError):
            target = os.readlink(link)
            if int(link.name) > 2 and not target.startswith(("socket:", "anon_inode:", "pipe:")):
                found.append(f"{link.name}: {target}")
    return found or refuse("no inherited descriptor")


def other_roots():
    """Gains a visible process whose root is not that of this process: /proc/PID/root would lead out."""
    own, found = os.stat("/"), []
    for path in pathlib.Path("/proc").glob("[0-9]*/root"):
        with contextlib.suppress(OSError):
            seen = os.stat(path)
            if (seen.st_dev, seen.st_ino) != (own.st_dev, own.st_ino):
                found.append(str(path))
    return found or refuse("all visible processes have this root")


def kill_all():
    """Sends SIGKILL to every process that this one may signal. It ends itself last."""
    os.kill(-1, signal.SIGKILL)
    return "sent"
