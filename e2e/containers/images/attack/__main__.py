import json
import os
import signal
import sys
import traceback

from attack import Refused, files, kernel, network, processes

PROBES = {name: function for module in (files, kernel, network, processes) for name, function in vars(module).items()}
# Probes that run at the same time, and seconds for each.
AT_ONCE, SECONDS = 12, 100


def attempt(name, *arguments):
    """Runs a probe. Returns the description of its result."""
    try:
        gained, seen = True, PROBES[name](*arguments)
    except (OSError, Refused) as error:
        gained, seen = False, str(error) or type(error).__name__
    return {"gained": gained, "seen": str(seen)[:2000]}


def start(words):
    """Starts a probe in a process of its own, because some change their process. Returns (pid, reader of the result)."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reader)
        signal.alarm(SECONDS)
        try:
            os.write(writer, json.dumps(attempt(*words)).encode())
        except BaseException:
            os.write(writer, json.dumps({"gained": None, "seen": traceback.format_exc()[-1000:]}).encode())
        os._exit(0)
    os.close(writer)
    return pid, reader


def finish(pid, reader):
    with os.fdopen(reader) as file:
        text = file.read()
    os.waitpid(pid, 0)
    return json.loads(text) if text else {"gained": None, "seen": f"no result within {SECONDS} s"}


def attempt_all(many):
    """Runs these probes, some at the same time. Returns their results in order."""
    running, results = [], []
    for words in many:
        if len(running) == AT_ONCE:
            results.append(finish(*running.pop(0)))
        running.append(start(words))
    return results + [finish(*each) for each in running]


words = sys.argv[1:]
if words[0] == "--patient":
    network.SECONDS = network.SECONDS_OF_MANY = network.PATIENCE
    words = words[1:]
if words[0] == "--all":
    print(json.dumps(attempt_all(json.loads(words[1]))))
else:
    print(json.dumps(attempt(*words)))
