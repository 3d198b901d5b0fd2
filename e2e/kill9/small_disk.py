"""A small disk, and a file that fills it."""

import contextlib
import errno
import subprocess

from harness import need

SIZE = "16m"
BLOCK = b"\0" * 4096


@contextlib.contextmanager
def small_disk(path):
    """Mounts a small tmpfs at this path during the block, and then removes the path. Skips the test without the right to
    mount.
    """
    mount = ["mount", "-t", "tmpfs", "-o", f"size={SIZE},mode=0700", "launcher-e2e", path]
    done = subprocess.run(mount, capture_output=True, text=True)
    need(done.returncode == 0, f"full disks require root and the right to mount: {done.stderr.strip()}")
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", path], check=True)
        path.rmdir()


class Filler:
    """A file that fills the disk of a directory during `with Filler(directory) as filler`."""

    def __init__(self, directory):
        self.path = directory / "filler"

    def __enter__(self):
        self.file = self.path.open("ab", buffering=0)
        self.fill()
        return self

    def __exit__(self, *_):
        self.file.close()
        self.path.unlink()

    def fill(self):
        """Extends the file until the disk is full. A later call fills the space that was freed since then."""
        try:
            while self.file.write(BLOCK):
                pass
        except OSError as error:
            assert error.errno == errno.ENOSPC, error
