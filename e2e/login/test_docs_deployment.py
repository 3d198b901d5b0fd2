"""Compares the pages on sizing, air-gapped installation and GitOps with the chart. No cluster is needed."""

import json
import re

import pytest

from chart import CHART, ROOT, SETS, render, values_in
from test_docs import anchors

NO_SECRETS = "proxySecret.launcher=null,proxySecret.workshops=null,login.cookieSecret=,login.workshopsCookieSecret="
MIRROR = "registry.example.org/mirrored"
DEFAULTS = values_in(CHART / "values.yaml")


def page(name):
    return (ROOT / "docs" / name).read_text()


def table(name, heading):
    """Returns the rows of the table whose first row is this heading, as lists of cells."""
    _, _, below = page(name).partition(f"\n| {heading} |")
    lines = below.split("\n\n")[0].splitlines()[2:]
    assert lines, f"{name} has no table {heading}"
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def images_of(value):
    """Yields each image reference below a value: images of containers, of the operator's settings, and of templates."""
    if isinstance(value, dict):
        if isinstance(value.get("image"), str):
            yield value["image"]
        if value.get("name") in ("SERVICE_SIDECAR_IMAGE", "SERVICE_MATERIAL_IMAGE"):
            yield value["value"]
        for one in value.values():
            yield from images_of(one)
    elif isinstance(value, list):
        for one in value:
            yield from images_of(one)
    elif isinstance(value, str) and value.startswith("["):
        yield from images_of(json.loads(value))


@pytest.mark.parametrize("name", SETS)
def test_listed_image_values_cover_every_image(name):
    listed = [cells[0].strip("`") for cells in table("air-gapped.md", "value | default | used by")]
    found = render(name, *(f"{one}={MIRROR}" for one in listed), "templates=null").objects
    assert set(images_of([one for one in found if one["kind"] != "CustomResourceDefinition"])) == {MIRROR}


def test_listed_images_are_chart_defaults():
    listed = {cells[0].strip("`"): cells[1].strip("`") for cells in table("air-gapped.md", "value | default | used by")}
    # The other values below images are no references of images.
    references = {name: value for name, value in DEFAULTS["images"].items() if name not in ("pullPolicy", "pullSecrets")}
    missing = {"material": "none"}
    assert listed == {f"images.{name}": value or missing.get(name, "*required*") for name, value in references.items()}
    # The example with a mirror has the same digests.
    mirrored = re.findall(r"^  (\w+): registry\.example\.org/\S+(@sha256:\w+)$", page("air-gapped.md"), re.MULTILINE)
    assert dict(mirrored) == {name: value[value.index("@") :] for name, value in references.items() if value}


def test_listed_objects_differ_without_secrets():
    differing = set()
    for name in ("minimal", "any", "google"):
        first, second = (render(name, NO_SECRETS, again=again).keyed for again in (False, True))
        assert first.keys() == second.keys()
        differing |= {key for key in first if first[key] != second[key]}
    namespaces = {"the release's": "launcher", "the workshops'": "workshops"}
    rows = table("gitops.md", "kind | name | namespace")
    assert differing == {(kind, namespaces[namespace], name.split("`")[1]) for kind, name, namespace in rows}


def test_kept_objects_are_those_of_gitops_page():
    """If the page lacks a kind, Argo CD may prune it unexpectedly. test_chart_objects.py compares the kinds with the chart."""
    (sentence,) = re.findall(r"have the annotation `helm.sh/resource-policy: keep`:(.*?)\.", page("gitops.md"), re.DOTALL)
    for words in ("the CRD", "namespace", "NetworkPolicies", "proxy secrets", "volume of SQLite"):
        assert words in " ".join(sentence.split())


def test_requests_of_release_match_chart():
    deployments = render("any").named("Deployment") | render("minimal").named("Deployment")
    rows = table("sizing.md", "Deployment | pods | CPU request | memory request | memory limit")
    assert {cells[0].split("`")[1] for cells in rows} == set(deployments)
    for cells in rows:
        (container,) = deployments[cells[0].split("`")[1]]["spec"]["template"]["spec"]["containers"]
        resources = container["resources"]
        requests = resources["requests"]
        assert [requests["cpu"], requests["memory"], resources["limits"]["memory"]] == cells[2:], cells


def test_sum_of_requests_with_traefik_is_correct():
    rows = table("sizing.md", "Deployment | pods | CPU request | memory request | memory limit")
    rows = [cells for cells in rows if "front" not in cells[0]]
    cpu, memory = (sum(int(re.match(r"\d+", cells[column])[0]) for cells in rows) for column in (2, 3))
    assert f"{cpu}m of CPU and {memory}Mi of memory" in page("sizing.md")


def test_requests_of_sidecar_and_app_match_code():
    sidecar = (ROOT / "crates/launcher-workshop/src/app/sidecar.rs").read_text()
    pattern = r'SIDECAR_{}: \[&str; 2\] = \["(\w+)", "(\w+)"\]'
    requests, limits = (re.search(pattern.format(name), sidecar).groups() for name in ("REQUESTS", "LIMITS"))
    template = (ROOT / "crates/launcher-domain/src/template/settings.rs").read_text()
    cpu, memory = (re.search(rf'{name}_request: Quantity = \w+\(\w+, "(\w+)"', template)[1] for name in ("cpu", "memory"))
    rows = dict((cells[0], cells[1:]) for cells in table("sizing.md", "resource of one workshop | request | limit"))
    assert rows["CPU of the sidecar"] == [requests[0], f"{limits[0]} CPU"]
    assert rows["memory of the sidecar"] == [requests[1], limits[1]]
    assert rows["CPU of the app"][0].endswith(f"by default {cpu}")
    assert rows["memory of the app"][0].endswith(f"by default {memory}")


def test_sizing_page_has_only_measured_figures():
    """Each figure is in the section of performance.md that its row names."""
    text = page("performance.md")
    sections = dict(re.findall(r"^#+ ([^\n]+)\n(.*?)(?=^#)", text + "\n#", re.MULTILINE | re.DOTALL))
    for subject, figure, source in table("sizing.md", "subject | figure | section"):
        title, anchor = re.fullmatch(r"\[(.+)\]\(performance\.md#(.+)\)", source).groups()
        assert anchor in anchors(ROOT / "docs/performance.md")
        for number in re.findall(r"\d[\d.,]*\d|\d", figure):
            assert re.search(rf"(?<![\d.,]){re.escape(number)}(?![\d])", sections[title]), f"{subject}: {number}"


def test_limits_on_sizing_page_are_chart_defaults():
    for name, default, _ in table("sizing.md", "limit of the launcher | default | effect on the size"):
        section, key = name.strip("`").split(".")
        assert str(DEFAULTS[section][key]) == default, name
