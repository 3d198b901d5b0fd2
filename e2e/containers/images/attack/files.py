"""Probes of files: foreign files, sockets, devices, mounts."""

import contextlib
import os
import pathlib
import stat

from attack import refuse

# File systems of the kernel. Their files are the subject of other probes.
KERNEL = ("/proc", "/sys")
# Devices that each container has. All others belong to the machine.
USUAL_DEVICES = {"null", "zero", "full", "random", "urandom", "tty", "ptmx", "console"}
# Files that the engine mounts into a container: they have only the names of the container itself.
ENGINE_FILES = {"/etc/resolv.conf", "/etc/hostname", "/etc/hosts", "/run/.containerenv"}


def walk(root):
    """Yields all paths below this folder on all mounted file systems, except those of the kernel."""
    for folder, folders, names in os.walk(root):
        folders[:] = [each for each in folders if os.path.join(folder, each) not in KERNEL]
        yield from (os.path.join(folder, each) for each in names + folders)


def find(name, root="/"):
    """Gains the paths of files with this name."""
    return [path for path in walk(root) if os.path.basename(path) == name] or refuse(f"there is no file {name}")


def find_text(text):
    """Gains the small files that contain this text."""
    found, wanted = [], text.encode()
    for path in walk("/"):
        with contextlib.suppress(OSError):
            if stat.S_ISREG(os.lstat(path).st_mode) and os.path.getsize(path) < 4096:
                if wanted in pathlib.Path(path).read_bytes():
                    found.append(path)
    return found or refuse("no small file has this text")


def sockets():
    """Gains Unix sockets in the file system: those of the engine, of the launcher, of a sidecar."""
    found = []
    for path in walk("/"):
        with contextlib.suppress(OSError):
            if stat.S_ISSOCK(os.lstat(path).st_mode):
                found.append(path)
    return found or refuse("no file is a socket")


def devices():
    """Gains device nodes that can be opened and are not those of every container."""
    found = []
    for path in walk("/dev"):
        with contextlib.suppress(OSError):
            mode = os.lstat(path).st_mode
            is_device = stat.S_ISCHR(mode) or stat.S_ISBLK(mode)
            if is_device and not path.startswith("/dev/pts/") and os.path.basename(path) not in USUAL_DEVICES:
                os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK))
                found.append(path)
    return found or refuse("no other device can be opened")


def device_node(path, kind, major, minor):
    os.mknod(path, {"b": stat.S_IFBLK, "c": stat.S_IFCHR}[kind] | 0o600, os.makedev(int(major), int(minor)))
    try:
        os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK))
        return f"{path} is open"
    finally:
        os.unlink(path)


def write(path):
    """Opens a file for writing, without changing it."""
    os.close(os.open(path, os.O_WRONLY))
    return f"{path} can be written"


def create(path):
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    os.unlink(path)
    return f"{path} can be created"


def read(path):
    opened = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        text = os.read(opened, 200)
    finally:
        os.close(opened)
    return f"{path}: {text}" if text else refuse(f"{path} is empty")


def mounted(text):
    """Gains mounts whose source has this text, except the files of the container's own names."""
    found = []
    for line in pathlib.Path("/proc/self/mountinfo").read_text().splitlines():
        words = line.split()
        if text in line and words[4] not in ENGINE_FILES and words[4] != "/":
            found.append(line)
    return found or refuse(f"no mount has {text}")


def writable_kernel_files():
    """Gains files of /proc/sys and /sys that can be opened for writing."""
    found = []
    for root in ("/proc/sys", "/sys"):
        for folder, _, names in os.walk(root):
            for path in (os.path.join(folder, name) for name in names):
                with contextlib.suppress(OSError):
                    os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK))
                    found.append(path)
                    if len(found) > 20:
                        return found
    return found or refuse("no file of the kernel can be written")


def handle(path):
    """Opens a file by its handle, which ignores mounts (the attack known as Shocker)."""
    import ctypes

    library = ctypes.CDLL(None, use_errno=True)
    place, mount = ctypes.create_string_buffer(136), ctypes.c_int()
    ctypes.memmove(place, (128).to_bytes(4, "little"), 4)
    flags = (-100, path.encode(), place, ctypes.byref(mount), 0)
    if library.name_to_handle_at(*flags) != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    folder = os.open(os.path.dirname(path), os.O_RDONLY)
    try:
        opened = library.open_by_handle_at(folder, place, os.O_RDONLY)
        if opened < 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
        os.close(opened)
        return f"{path} is open by its handle"
    finally:
        os.close(folder)
