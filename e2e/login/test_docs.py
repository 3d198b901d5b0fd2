"""Compares the documentation with the chart and the code, and checks its links. No cluster is needed."""

import functools
import json
import re
import subprocess
import textwrap

import pytest

import tiers
from chart import CHART, ROOT, template, values_schema
from installation import steps
from series import metrics, registered
from yaml_files import load, load_all

READMES = [ROOT / "quickstart/README.md", CHART / "README.md", ROOT / "e2e/login/README.md"]
PAGES = [*sorted((ROOT / "docs").rglob("*.md")), *sorted(ROOT.glob("*.md")), *READMES]
# First line of a YAML block with a complete values.yaml, of a block with additions to values.yaml, and of a block with a
# part of another object.
WHOLE, MORE, PART = "# values.yaml\n", "# also in values.yaml\n", "# in the spec of"
# Pages with values of the chart.
VALUES = (
    "install.md", "front.md", "gateway.md", "providers.md", "database.md", "air-gapped.md", "gitops.md", "helm-pods.md",
)


def blocks(page):
    """Returns the YAML blocks of a page with their line numbers: [(line, text)]."""
    text = (ROOT / "docs" / page).read_text()
    found = re.finditer(r"^( *)```yaml\n(.*?)^\1```$", text, re.MULTILINE | re.DOTALL)
    return [(text.count("\n", 0, one.start()) + 1, textwrap.dedent(one[2])) for one in found]


def snippets():
    """Returns the YAML blocks with values of the chart, as test parameters with the id PAGE:LINE."""
    found = [(f"{page}:{line}", text) for page in VALUES for line, text in blocks(page)]
    return [pytest.param(text, id=place) for place, text in found if text.startswith((WHOLE, MORE))]


def chart_readme():
    """Returns the values file in the chart's README.md."""
    return re.search(r"^```yaml\n(.*?)^```$", (CHART / "README.md").read_text(), re.MULTILINE | re.DOTALL)[1]


BASE = next(text for _, text in blocks("install.md") if text.startswith(WHOLE))
# The chart of a release names the two images. Its packaged values have these keys.
RELEASED = "images: {launcher: registry.example.org/launcher:1, sidecar: registry.example.org/sidecar:1}"


def render_documented(folder, base, text=""):
    """Renders the chart of a release with these values, `text` over `base`. Returns (status, output)."""
    (folder / "released.yaml").write_text(RELEASED)
    (folder / "base.yaml").write_text(base)
    return template(None, *(f"--values={one}" for one in (folder / "released.yaml", folder / "base.yaml", "-")), stdin=text)


@pytest.mark.parametrize("text", [*snippets(), pytest.param(chart_readme(), id="chart-README.md")])
def test_documented_values_are_accepted_by_chart(text, tmp_path):
    status, rendered = render_documented(tmp_path, BASE, text)
    assert status == 0, rendered


def test_installation_has_seven_steps_with_one_command_each():
    """tests/test_documented_installation.py runs these steps on the cluster."""
    assert [len(step.commands) <= 1 for step in steps()] == [True] * 7
    (install,) = (command for step in steps() for command in step.commands if "install" in command)
    # These two are not values of the file, because they are a secret of the provider.
    assert re.findall(r" --set ([\w.]+)=", " ".join(install)) == ["login.clientID", "login.clientSecret"]


def test_installation_needs_three_values(tmp_path):
    """A value is required if the chart refuses the documented values without it."""
    (text,) = (text for step in steps() for text in step.files.values())
    assert text == BASE
    required = set()
    for name in leaves_of(load(text)):
        values = load(text)
        *groups, last = name.split(".")
        del functools.reduce(dict.get, groups, values)[last]
        status, rendered = render_documented(tmp_path, json.dumps(values))
        if status != 0:
            assert "is missing" in rendered, rendered
            required.add(name)
    assert required == {"host", "workshops.domain", "login.oidc.issuerURL"}
    (told,) = (step.prose for step in steps() if "The chart requires" in step.prose)
    assert all(f"`{name}`" in told for name in required)


def leaves_of(values, prefix=""):
    """Yields the dotted names of the values in a values file."""
    for name, value in values.items():
        if isinstance(value, dict):
            yield from leaves_of(value, f"{prefix}{name}.")
        else:
            yield prefix + name


def test_documented_yaml_is_valid():
    for page, line, text in ((page, *one) for page in (*VALUES, "upgrade.md") for one in blocks(page)):
        for found in load_all(text):
            is_part = text.startswith((WHOLE, MORE, PART))
            assert found and (is_part or {"apiVersion", "kind", "metadata"} <= set(found)), f"{page}:{line}"


def test_every_login_provider_has_documented_values():
    named = {load(text)["login"]["provider"] for _, text in blocks("providers.md")}
    assert named == set(values_schema()["login.provider"]["enum"]) - {""}


def test_values_named_in_docs_exist():
    known = values_schema().keys()
    groups = {name.rsplit(".", depth)[0] for name in known for depth in range(1, name.count(".") + 1)}
    sections = "|".join(sorted({name.partition(".")[0] for name in known}))
    for page in (*VALUES, "sizing.md", "upgrade.md", "runbooks.md", "threat-model.md", "../quickstart/README.md"):
        text = (ROOT / "docs" / page).read_text()
        found = set(re.findall(rf"`((?:{sections})\.[A-Za-z.]+)`", text))
        # Hosts and these files match the pattern, but are no values.
        named = {name for name in found if ".example." not in name and ".localhost" not in name}
        named -= {"launcher.db", "images.txt", "login.DOMAIN"}
        # A value may be a map with free keys, as in front.resources.limits.memory.
        wrong = {name for name in named - known - groups if not any(name.startswith(f"{value}.") for value in known)}
        assert not wrong, f"{page}: {wrong}"


def test_test_files_named_in_threat_model_exist():
    named = re.findall(r"`([a-z0-9_/.-]+\.(?:py|rs|mjs))`", (ROOT / "docs/threat-model.md").read_text())
    assert named
    assert [name for name in named if not (ROOT / name).exists() and not (ROOT / "crates" / name).exists()] == []


def test_reliability_page_names_existing_tests_and_tiers():
    listed = subprocess.run(["git", "ls-files", "*.rs", "*.py"], cwd=ROOT, check=True, capture_output=True, text=True)
    text, wrong, numbers = (ROOT / "docs/reliability.md").read_text(), [], []
    for path, name in re.findall(r"`([\w./-]+\.(?:rs|py))::(\w+)`", text):
        ending = [file for file in listed.stdout.split() if file.endswith(f"/{path}")]
        if len(ending) != 1 or not re.search(rf"\b(?:fn|def) {name}\(", source(ending[0])):
            wrong.append(f"{path}::{name} in {ending}")
    rows = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in text.splitlines() if line.startswith("| ")]
    for cells in (cells for cells in rows if re.search(r"\.(?:rs|py)::", cells[-2])):
        numbers += [int(cells[0])] if len(cells) == 5 else []
        assert set(cells[-1].split(", ")) <= set(known_tiers()), f"{cells[0]}: {cells[-1]}"
        assert all(re.fullmatch(r"`[\w./-]+::\w+`", one) for one in cells[-2].split(", ")), f"{cells[0]}: {cells[-2]}"
    assert (wrong, numbers) == ([], list(range(1, 40)))


@functools.cache
def source(path):
    return (ROOT / path).read_text()


def known_tiers():
    return list(tiers.TIER)


def test_make_help_lists_all_test_tiers():
    told = subprocess.run(["make", "--no-print-directory", "help"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    assert re.search(r"^  tiers: ([\w\s]+)\Z", told, re.MULTILINE)[1].split() == known_tiers()


def test_makefile_gives_a_reason_for_each_tier_that_ci_leaves_out():
    text = (ROOT / "Makefile").read_text()
    run = re.search(r"^ci:.*\n\t@exec e2e/tiers\.sh (.*)$", text, re.MULTILINE)[1].split()
    left_out = [name for names in re.findall(r"^#   ([\w, ]+?)  ", text, re.MULTILINE) for name in names.split(", ")]
    assert sorted(run + left_out) == sorted(known_tiers())


@functools.cache
def anchors(page):
    """Returns the anchors that GitHub generates from the headings of a page."""
    headings = re.findall(r"^#+ (.+)$", re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.M | re.S), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_documentation_links_resolve():
    for page in PAGES:
        for target in re.findall(r"\]\((?!https?:|mailto:)([^)\s]+)\)", page.read_text()):
            path, _, anchor = target.partition("#")
            linked = (page.parent / path).resolve() if path else page
            assert linked.exists() and (not anchor or linked.suffix != ".md" or anchor in anchors(linked)), f"{page}: {target}"


def test_documented_metrics_match_registered_metrics():
    """Reads the code, because /metrics omits metrics before their first use. Other tests compare the metrics' kinds."""
    endings = re.compile("_(?:total|bucket|sum|count)$")
    assert registered() == {endings.sub("", name) for name in metrics()}


def test_documented_log_commands_show_all_lines_of_all_pods():
    """`kubectl logs deployment/…` shows only one pod.

    With --selector, kubectl shows all pods, but by default only ten lines of each.
    """
    asked = [(page, line) for page in PAGES for line in re.findall(r"kubectl [^`\n]*\blogs\b[^`\n]*", page.read_text())]
    assert any("--selector" in line for _, line in asked)
    for page, line in asked:
        assert "deployment" not in line, f"{page}: {line}"
        assert "--selector" not in line or {"--tail", "--prefix"} <= set(re.findall(r"--\w+", line)), f"{page}: {line}"


def test_log_messages_named_in_runbooks_exist_in_code():
    text = (ROOT / "docs/runbooks.md").read_text()
    looked_for = re.findall(r"\blogs .*\|\n +grep '(.+)'", text)
    assert len(looked_for) > 2
    written = "".join(path.read_text() for path in ROOT.glob("crates/*/src/**/*.rs"))
    assert [words for words in looked_for if words not in written] == []


def test_readme_lists_every_documentation_page():
    listed = set(re.findall(r"\]\((docs/[a-z-]+\.md)\)", (ROOT / "README.md").read_text()))
    pages = {page.name for page in (ROOT / "docs").glob("*.md")} - {"README.md", "SUMMARY.md"}
    assert listed == {f"docs/{name}" for name in pages}
