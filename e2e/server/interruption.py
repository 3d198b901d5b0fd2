"""Setup in a forked process, which fails or is killed at its n-th change of the file system."""

import errno
import os
import signal
import sys

from installer import cli

# Audit events of Python before a change of the file system; each has paths as its first arguments.
CHANGES = {"os.link", "os.rename", "os.remove", "os.mkdir", "os.rmdir"}
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT
# Part of the output if the run had as many changes.
REPORT = "(interrupted by the test)"


def run(words, log, action=None, step=0):
    """Runs setup. `action`: "kill", "fail" (this change only) or "break" (this change and all later ones).

    Returns (exit code, output); the code is -9 after a kill.
    """
    child = os.fork()
    if not child:
        _run([str(word) for word in words], log, action, step)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status), log.read_text()


def _run(words, log, action, step):
    code = 99
    try:
        handle = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        for stream in (1, 2):
            os.dup2(handle, stream)
        sys.stdout, sys.stderr = open(1, "w", closefd=False), open(2, "w", closefd=False)
        if action:
            sys.addaudithook(Interruption(action, step))
        code = cli.main(words)
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        # Pytest must not continue in this process.
        os._exit(code)


class Interruption:
    """An audit hook that counts changes of the file system."""

    def __init__(self, action, step):
        self.action, self.left = action, step

    def __call__(self, event, arguments):
        # Of a file that is open already, `open` has the number instead of the path.
        opened = event == "open" and not isinstance(arguments[0], int) and (arguments[2] or 0) & WRITES
        if event not in CHANGES and not opened:
            return
        self.left -= 1
        if self.left > 0 or (self.left < 0 and self.action != "break"):
            return
        os.write(2, REPORT.encode())
        if self.action == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        raise OSError(errno.ENOSPC, "No space left on device", str(arguments[0]))
