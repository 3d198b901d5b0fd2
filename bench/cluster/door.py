"""The cost of an edge proxy with one route per workshop: Traefik's CPU and memory while thousands of Ingresses exist."""

import contextlib
import json
import os
import subprocess
import tempfile
import time
import urllib.request

from usage import Usage

PORT = 18080
# Traefik's API, which knows its routes.
API_PORT = 18081
# Time until Traefik has read all Ingresses, and answers.
START = 300


@contextlib.contextmanager
def traefik(program, namespace):
    """Runs Traefik for the Ingresses of this namespace; it uses the KUBECONFIG of this process."""
    with tempfile.TemporaryFile() as log:
        command = [
            program,
            f"--entrypoints.web.address=127.0.0.1:{PORT}",
            "--providers.kubernetesingress",
            f"--providers.kubernetesingress.namespaces={namespace}",
            f"--entrypoints.traefik.address=127.0.0.1:{API_PORT}",
            "--api.insecure=true",
            "--global.checknewversion=false",
            "--global.sendanonymoususage=false",
        ]
        process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, env=os.environ)
        try:
            yield process
        finally:
            process.terminate()
            process.wait()


def has_route(host):
    """Returns True if Traefik has a route for this host. Asks its API: a request to the host would leave this machine,
    because the addresses of fake pods are not on it."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{API_PORT}/api/http/routers?search={host}", timeout=5) as answer:
            return bool(json.load(answer))
    except OSError:
        return False


def wait_for_route(host):
    deadline = time.monotonic() + START
    while not has_route(host):
        if time.monotonic() > deadline:
            raise RuntimeError(f"after {START} s Traefik has no route for {host}")
        time.sleep(0.5)


def measure(kube, stage, program, host, seconds):
    """Measures Traefik without changes, and with one changed Ingress per second; yields rows of the table. `host` is the
    host of one of the Ingresses."""
    paths = f"/apis/networking.k8s.io/v1/namespaces/{stage.namespace}/ingresses"
    names = [found["metadata"]["name"] for found in kube.request("GET", f"{paths}?limit=500")["items"]]
    with traefik(program, stage.namespace) as process:
        wait_for_route(host)
        with Usage(process.pid) as usage:
            for what, changes in (("without changes", False), ("with one changed Ingress per second", True)):
                began, cpu = time.perf_counter(), usage.cpu()
                for number in range(seconds):
                    if changes:
                        change(kube, f"{paths}/{names[number % len(names)]}", number)
                    time.sleep(max(0.0, began + number + 1 - time.perf_counter()))
                used = (usage.cpu() - cpu) / (time.perf_counter() - began) * 100
                yield f"Traefik {what}, {seconds} s: CPU", f"{used:.0f} % of one core"
            yield "its RSS, and its peak", f"{usage.field('VmRSS'):.0f} MiB, {usage.field('VmHWM'):.0f} MiB"


def change(kube, path, number):
    patch = {"metadata": {"annotations": {"bench.example.org/change": str(number)}}}
    kube.request("PATCH", path, patch, "application/merge-patch+json")
