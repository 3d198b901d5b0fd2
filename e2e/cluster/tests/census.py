"""Records every Workshop and pod of a namespace, so that tests also detect a deleted duplicate."""

import collections
import contextlib
import subprocess
import threading

from harness import wait_for

OWNER = r"{.metadata.labels.workshoplauncher\.dev/workshop}"
WHOSE = {"workshops": "{.metadata.name}", "pods": OWNER}


class ObjectRecorder:
    """Records the uids of Workshops and pods. Usage: `with ObjectRecorder(world) as recorder`."""

    def __init__(self, world):
        self.world = world
        self.lock = threading.Lock()
        self.seen = {kind: collections.defaultdict(list) for kind in WHOSE}
        self.watches = []

    def __enter__(self):
        for kind, whose in WHOSE.items():
            shown = whose + ' {.metadata.uid}{"\\n"}'
            words = ["kubectl", "--namespace", self.world.namespace, "get", kind, "--watch"]
            watch = subprocess.Popen([*words, "--output", f"jsonpath={shown}"], stdout=subprocess.PIPE, text=True)
            reader = threading.Thread(target=self._read, args=[kind, watch.stdout], daemon=True)
            reader.start()
            self.watches.append((watch, reader))
        return self

    def __exit__(self, *_):
        for watch, reader in self.watches:
            watch.kill()
            watch.wait()
            reader.join()

    def _read(self, kind, lines):
        for line in lines:
            with contextlib.suppress(ValueError), self.lock:
                name, uid = line.split()
                if uid not in self.seen[kind][name]:
                    self.seen[kind][name].append(uid)

    def ended(self):
        """Returns True if a watch has ended."""
        return any(watch.poll() is not None for watch, _ in self.watches)

    def of(self, name):
        """Returns the uids of all recorded objects of this Workshop: {kind: [uid]}, in order of appearance."""
        with self.lock:
            return {kind: list(self.seen[kind][name]) for kind in WHOSE}

    def assert_one_each(self, *names):
        """Fails unless each name had exactly one Workshop and one pod since the recording began."""
        # The watches report an object later than the launcher does.
        recorded = lambda: all(all(self.of(name).values()) for name in names) or self.ended()
        wait_for("the watches to report all objects", recorded)
        assert not self.ended(), "a watch has ended: the recording may be incomplete"
        counts = {name: {kind: len(uids) for kind, uids in self.of(name).items()} for name in names}
        wrong = {name: count for name, count in counts.items() if set(count.values()) != {1}}
        assert not wrong, f"expected exactly one Workshop and one pod for each name: {wrong}"
