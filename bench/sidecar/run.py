#!/usr/bin/env python3
"""Compares the sidecar with reverse proxies that could replace it, one core each.

    bench/sidecar/run.py [--rounds 5] [--seconds 2] [--only sidecar nginx] [--scenes requests rest]

All its processes listen on 127.0.0.1 and end with it. Prints Markdown.
"""

import argparse
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from common import tools  # noqa: E402
from common.machine import Started, prepare  # noqa: E402
from sidecar import proxies, report, rest, scenes  # noqa: E402

SCENES = ("requests", "latency", "echoes", "bodies", "rest")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=2, help="of each measurement with load")
    parser.add_argument("--websockets", type=int, default=200, help="idle at once")
    parser.add_argument("--body", type=int, default=scenes.GIB, help="bytes of the large body")
    parser.add_argument("--only", nargs="+", help="measure only these proxies; the targets need the sidecar and nginx")
    parser.add_argument("--as-built", action="store_true", help="use the existing builds of the launcher's programs")
    parser.add_argument("--scenes", nargs="+", choices=SCENES, default=SCENES)
    return parser.parse_args()


def main():
    options = arguments()
    if not options.as_built:
        tools.build_ours("launcher-sidecar")
        tools.build_load()
    each = proxies.all_of_them(tools.build_proxies())
    each = [proxy for proxy in each if not options.only or proxy.name in options.only]
    prepare()
    report.opening(each, options)
    with tempfile.TemporaryDirectory(prefix="bench-sidecar-") as directory, Started() as started:
        place = pathlib.Path(directory)
        small = scenes.nginx_app(started, place / "app")
        large = scenes.large_app(started)
        for name, app in (("requests", small), ("latency", small), ("echoes", large), ("bodies", large)):
            if name in options.scenes:
                with scenes.Scene(started, each, app, place) as scene:
                    getattr(scenes, name)(scene, options)
                    getattr(report, name)(scene, each)
        if "rest" in options.scenes:
            with scenes.Scene(started, [], large, place) as scene:
                rest.at_rest(scene, started, each, large, place, options)
                report.at_rest(scene, each)
        report.closing()


if __name__ == "__main__":
    main()
