#!/usr/bin/env python3
"""Costs of workshops on a cluster: many launches at once, one launch, and thousands of Workshops on fake nodes.

    make cluster-up cluster-images && cargo build --release -p launcher
    source e2e/cluster/env.sh && bench/cluster/run.py one many

Uses Python's standard library only; needs kubectl and a KUBECONFIG of an administrator. Prints Markdown. Creates
separate namespaces and processes, and removes them afterwards. Compared figures come from one run, in turns.
"""

import argparse
import pathlib
import sys

import fake
import many
import one
import stage
from kube import Kube

from common.machine import described


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="+", choices=("one", "many", "fake"))
    parser.add_argument("--rounds", type=int, default=10, help="rounds of `one`")
    parser.add_argument("--count", type=int, default=150, help="launches at once of `many`")
    parser.add_argument("--many-rounds", type=int, default=1, help="rounds of `many`")
    parser.add_argument("--workshops", type=int, default=2000, help="Workshops of `fake`")
    parser.add_argument("--rest", type=int, default=60, help="seconds at rest of `fake`")
    parser.add_argument("--traefik", type=pathlib.Path, help="a Traefik program that `fake` measures with all Ingresses")
    parser.add_argument("--program", type=pathlib.Path, default=stage.PROGRAM, help="the launcher to measure")
    return parser.parse_args()


def main():
    chosen = arguments()
    if not chosen.program.exists():
        sys.exit(f"{chosen.program} is missing: cargo build --release -p launcher")
    stage.Stage.program = chosen.program
    print(f"{described()}\n", flush=True)
    with Kube() as kube:
        if "one" in chosen.parts:
            one.run(kube, chosen.rounds)
        if "many" in chosen.parts:
            many.run(kube, chosen.count, chosen.many_rounds)
        if "fake" in chosen.parts:
            fake.run(kube, chosen.workshops, chosen.rest, chosen.traefik)


if __name__ == "__main__":
    main()
