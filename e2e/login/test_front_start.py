"""Tests of the front's start script, which adapts nginx to its pod and its version. No cluster is needed."""

import shutil
import subprocess

import pytest

from test_chart_front import FRONT, rendered

RESOLV = {
    "nameserver 10.96.0.10\nsearch launcher.svc.cluster.local svc.cluster.local cluster.local\noptions ndots:5\n": (
        "10.96.0.10", "svc.cluster.local",
    ),
    "search a.svc.corp.example svc.corp.example corp.example svc.other\nnameserver fd00::a\nnameserver 10.0.0.1\n": (
        "[fd00::a] 10.0.0.1", "svc.corp.example",
    ),
    "nameserver 10.0.0.1\n": ("10.0.0.1", "svc.cluster.local"),
}


def started(folder, resolv=next(iter(RESOLV)), addresses=None, status=0):
    """Runs the start script with a fake nginx, whose configuration test exits with `status`.

    `resolv` replaces /etc/resolv.conf, and `addresses` are the lines of /proc/net/if_inet6. Returns the lines of each
    file that the script writes.
    """
    (folder / "resolv.conf").write_text(resolv)
    (folder / "nginx").write_text(f'#!/bin/sh\necho "$@" >>{folder}/started\n[ "$1" = -e ] || exit {status}\n')
    (folder / "nginx").chmod(0o755)
    start = rendered()["ConfigMap", FRONT]["data"]["start.sh"].replace("/tmp/", f"{folder}/")
    if addresses is not None:
        (folder / "if_inet6").write_text("".join(f"{address}\n" for address in addresses))
    for path in ("/etc/resolv.conf", "/proc/net/if_inet6"):
        start = start.replace(path, str(folder / path.rpartition("/")[2]))
    (folder / "start.sh").write_text(start)
    # The PATH contains only awk and the fake nginx, so the script fails if it uses another program.
    (folder / "awk").symlink_to(shutil.which("awk"))
    subprocess.run(["/bin/sh", folder / "start.sh"], env={"PATH": str(folder)}, check=True, timeout=10)
    return {name: (folder / f"{name}.conf").read_text().splitlines() for name in ("resolver", "listen", "listen-once", "heads")}


@pytest.mark.parametrize("text", RESOLV, ids=["default-domain", "other-domain-and-two-servers", "no-search-domain"])
def test_nginx_uses_name_servers_and_domain_of_its_pod(text, tmp_path):
    servers, domain = RESOLV[text]
    assert started(tmp_path, text)["resolver"] == [
        f"resolver {servers} valid=5s ipv6=off;", f"map $host $front_services {{ default {domain}; }}",
    ]
    assert (tmp_path / "started").read_text().splitlines()[-1] == f"-e stderr -c {tmp_path}/nginx.conf"


LOOPBACK, LOCAL, GLOBAL = (
    f"{address} {number} 80 {scope} 80 {name}"
    for address, number, scope, name in (
        ("00000000000000000000000000000001", "01", "10", "lo"), ("fe800000000000000000000000000001", "02", "20", "eth0"),
        ("fd000000000000000000000000000005", "02", "00", "eth0"),
    )
)


@pytest.mark.parametrize(
    "addresses,both,names",
    [
        (None, False, "off"), ([], False, "off"), ([LOOPBACK], True, "off"), ([LOOPBACK, LOCAL], True, "off"),
        ([LOOPBACK, LOCAL, GLOBAL], True, "on"),
    ],
    ids=["ipv6-disabled", "no-ipv6-address", "ipv6-loopback", "ipv6-link-local", "ipv6-global"],
)
def test_nginx_uses_address_families_of_its_pod(addresses, both, names, tmp_path):
    found = started(tmp_path, addresses=addresses)
    listeners = ["8080", "[::]:8080"] if both else ["8080"]
    assert found["listen"] == [f"listen {listener};" for listener in listeners]
    assert found["listen-once"] == [f"listen {listener} rcvbuf=16k sndbuf=16k;" for listener in listeners]
    assert f" ipv6={names};" in found["resolver"][0]


@pytest.mark.parametrize("status,lines", [(0, ["max_headers 128;"]), (1, [])], ids=["supported", "not-supported"])
def test_nginx_starts_with_and_without_max_headers_support(status, lines, tmp_path):
    assert started(tmp_path, status=status)["heads"] == lines
    assert (tmp_path / "started").read_text().splitlines()[-1] == f"-e stderr -c {tmp_path}/nginx.conf"
