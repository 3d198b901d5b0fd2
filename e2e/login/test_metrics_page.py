"""Parses a launcher's /metrics with the OpenMetrics parser of Prometheus. No cluster is needed."""

import re
import sys

import promtool
from chart import ROOT

sys.path.insert(0, str(ROOT / "e2e"))
from harness import Launcher, exchange, wait_for


def page(launcher):
    return exchange(launcher.telemetry_port, "GET", "/metrics")


def read(folder, text):
    """Imports the metrics page into a Prometheus database with promtool. Returns (status, output).

    The import requires a timestamp in each line, so this function adds one.
    """
    timed = re.sub(r"^([^#\n].*)$", r"\1 1700000000", text, flags=re.MULTILINE)
    (folder / "page.txt").write_text(timed)
    return promtool.promtool("tsdb", "create-blocks-from", "openmetrics", folder / "page.txt", folder / "blocks")


def test_prometheus_parses_launcher_metrics(tmp_path):
    with Launcher() as launcher:
        launcher.start()
        assert launcher.request("GET", "/me")[0] == 200
        wait_for("launcher_instances in /metrics", lambda: b"launcher_instances{" in page(launcher)[2], 20)
        _, headers, body = page(launcher)
        launcher.stop()
    assert headers["content-type"].startswith("application/openmetrics-text; version=1.0.0")
    text = body.decode()
    status, said = read(tmp_path, text)
    assert status == 0, said
    told = [line for line in text.splitlines() if not line.startswith("#")]
    # The last line of the output has the numbers of samples, chunks and series. All three must equal the number of
    # lines, because each line is a separate series.
    assert said.splitlines()[-1].split()[-4:-1] == [str(len(told))] * 3, said


def test_prometheus_rejects_invalid_metrics(tmp_path):
    assert read(tmp_path, "ready 1\n# EOF\n")[0] == 0
    for broken in ("ready 1\n", "ready one\n# EOF\n", "ready{pod=a} 1\n# EOF\n"):
        assert read(tmp_path, broken)[0] != 0, broken
