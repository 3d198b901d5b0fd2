"""Tests of the chart's names, labels, service accounts and additional objects. No cluster is needed."""

import base64
import shutil

import pytest
import yaml

from chart import CHART, RELEASE, ROOT, SETS, helm, objects, render, values_of
from yaml_files import load, load_all

NAME_LABEL = "app.kubernetes.io/name"


def named(release, *words):
    """Renders ci/minimal-values.yaml as a release of this name. Returns the objects of the release's namespace."""
    common = ("--namespace", "launcher", "--kube-version", "1.34", "--values", values_of("minimal"))
    status, text = helm("template", release, CHART, *common, *words)
    assert status == 0, text
    found = [one for one in load_all(text) if one]
    return [one for one in found if one["metadata"].get("namespace") == "launcher"]


@pytest.mark.parametrize(
    "release,words,prefix",
    [
        (RELEASE, [], RELEASE),
        ("course", [], f"course-{RELEASE}"),
        ("course", ["--set", "nameOverride=labs"], "course-labs"),
        ("course", ["--set", "fullnameOverride=labs"], "labs"),
        ("labs-2026", ["--set", "nameOverride=labs"], "labs-2026"),
    ],
)
def test_names_of_all_objects_begin_with_full_name(release, words, prefix):
    names = {one["metadata"]["name"] for one in named(release, *words)}
    assert prefix in names and f"{prefix}-operator" in names and f"{prefix}-proxy-secret" in names
    assert {name for name in names if name != prefix and not name.startswith(f"{prefix}-")} == set()


def test_name_override_changes_labels_and_selectors_together():
    found = named("course", "--set", "nameOverride=labs", "--set", "monitoring.namespace=monitoring")
    assert {one["metadata"]["labels"][NAME_LABEL] for one in found} == {"labs"}
    for deployment in (one for one in found if one["kind"] == "Deployment"):
        spec = deployment["spec"]
        assert spec["selector"]["matchLabels"].items() <= spec["template"]["metadata"]["labels"].items()
    for policy in (one for one in found if one["kind"] == "NetworkPolicy"):
        assert policy["spec"]["podSelector"]["matchLabels"][NAME_LABEL] == "labs"


def test_full_name_override_with_default_name_keeps_all_names():
    names = [
        {(one["kind"], one["metadata"]["name"]) for one in objects(name) if one["kind"] != "Secret"}
        for name in ("google", "minimal")
    ]
    assert names[0] == names[1]


@pytest.mark.parametrize("name", SETS)
def test_chart_version_changes_no_pod_and_no_selector(name, tmp_path):
    chart = tmp_path / "chart"
    shutil.copytree(CHART, chart)
    about = (chart / "Chart.yaml").read_text()
    version = load(about)["version"]
    (chart / "Chart.yaml").write_text(about.replace(f"ersion: {version}", "ersion: 99.0.0+build"))
    common = ("--namespace", "launcher", "--kube-version", "1.34", "--values", values_of(name))
    status, text = helm("template", RELEASE, chart, *common)
    assert status == 0, text
    changed = {one["metadata"]["name"]: one for one in load_all(text) if one and one["kind"] == "Deployment"}
    for deployment in objects(name, "Deployment"):
        other = changed[deployment["metadata"]["name"]]
        assert other["spec"] == deployment["spec"]
        labels = other["metadata"]["labels"]
        assert labels["helm.sh/chart"] == f"{RELEASE}-99.0.0_build"
        assert labels["app.kubernetes.io/version"] == "99.0.0_build"


@pytest.mark.parametrize("enabled", [True, False])
def test_condition_of_parent_chart_enables_dependency(enabled, tmp_path):
    parent = tmp_path / "course"
    shutil.copytree(CHART, parent / f"charts/{RELEASE}")
    needed = {"name": RELEASE, "version": "0.1.0", "condition": f"{RELEASE}.enabled"}
    about = {"apiVersion": "v2", "name": "course", "version": "1.0.0", "dependencies": [needed]}
    (parent / "Chart.yaml").write_text(yaml.safe_dump(about))
    values = load(values_of("minimal").read_text()) | {"enabled": enabled}
    (parent / "values.yaml").write_text(yaml.safe_dump({RELEASE: values}))
    status, text = helm("template", "course", parent, "--namespace", "launcher", "--kube-version", "1.34")
    assert status == 0, text
    made = {one["metadata"]["name"] for one in load_all(text) if one and one["kind"] == "Deployment"}
    names = {f"course-{RELEASE}{one}" for one in ("", "-operator", "-login", "-workshops-login", "-notice")}
    assert made == (names if enabled else set())


def test_chart_describes_its_images_and_resource():
    about = load((CHART / "Chart.yaml").read_text())
    notes = about["annotations"]
    images = load((CHART / "values.yaml").read_text())["images"]
    listed = {one["image"] for one in load(notes["artifacthub.io/images"])}
    assert listed == {images["oauth2Proxy"], images["front"]}
    crds = load((CHART / "files/workshops.yaml").read_text())["items"]
    described = load(notes["artifacthub.io/crds"])
    assert [one["name"] for one in described] == [crd["metadata"]["name"] for crd in crds]
    for one, crd in zip(described, crds):
        assert one["kind"] == crd["spec"]["names"]["kind"]
        assert one["version"] in {version["name"] for version in crd["spec"]["versions"]}
    icon = base64.b64decode(about["icon"].removeprefix("data:image/svg+xml;base64,"))
    assert icon == (ROOT / "crates/launcher-api/assets/icon.svg").read_bytes()


def test_service_accounts_have_configured_names_and_annotations():
    accounts = {one["metadata"]["name"]: one["metadata"] for one in objects("full", "ServiceAccount")}
    assert set(accounts) == {"launcher-account", "login-account", "notice-account"}
    for name, account in accounts.items():
        assert account["annotations"] == {"example.org/role": name.removesuffix("-account")}
    used = {one["metadata"]["name"]: one["spec"]["template"]["spec"] for one in objects("full", "Deployment")}
    assert used[RELEASE]["serviceAccountName"] == "launcher-account"
    assert used[f"{RELEASE}-operator"]["serviceAccountName"] == "operator-account"


def test_extra_objects_are_rendered_as_templates():
    found = {one["metadata"]["name"]: one for one in objects("full", "ConfigMap")}
    links, text = found[f"{RELEASE}-links"], found[f"{RELEASE}-text"]
    assert links["metadata"]["namespace"] == text["metadata"]["namespace"] == "launcher"
    assert links["data"] == {"launcher": "https://launcher.example.org/"}
    assert text["data"] == {"workshops": "workshops.example.net"}


def test_operator_and_launcher_keep_permissions_with_other_accounts():
    text = render("minimal", "--set", "launcher.serviceAccount.name=own")
    bindings = [one for one in load_all(text) if one and one["kind"] == "RoleBinding"]
    assert {one["roleRef"]["name"]: one["subjects"][0]["name"] for one in bindings} == {
        RELEASE: "own", f"{RELEASE}-operator": f"{RELEASE}-operator",
    }
