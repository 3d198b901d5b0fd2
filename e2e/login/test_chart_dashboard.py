"""The chart's dashboard: panels that ask for metrics and labels that there are. No cluster is needed, and no Grafana."""

import json

import promql_parser
import pytest

from chart import SETS, objects
from series import metrics

FOUND = [one for one in objects("full", "ConfigMap") if "grafana_dashboard" in one["metadata"]["labels"]]
DASHBOARD = json.loads(FOUND[0]["data"]["workshop-launcher.json"])
PANELS = {panel["title"]: panel for panel in DASHBOARD["panels"] if panel["type"] != "row"}
each = pytest.mark.parametrize("title", PANELS)


def selectors(title):
    """What a panel's questions select, as the parser sees them."""
    found = []
    for target in PANELS[title]["targets"]:
        question = target["expr"].replace("$__rate_interval", "5m")
        promql_parser.walk(promql_parser.parse(question), found.append)
    return [node for node in found if isinstance(node, promql_parser.VectorSelector)]


def test_it_is_off_unless_asked_for_and_has_the_labels_that_were_asked_for():
    marked = lambda name: [one for one in objects(name, "ConfigMap") if one["metadata"]["name"].endswith("-dashboard")]
    assert [name for name in SETS if marked(name)] == ["full"]
    assert FOUND[0]["metadata"]["labels"].items() >= {"grafana_dashboard": "1", "team": "courses"}.items()


@each
def test_a_panel_asks_for_metrics_and_labels_that_there_are(title):
    assert selectors(title)
    for selector in selectors(title):
        asked = {one.name: one.value for one in selector.matchers.matchers}
        program = selector.name.split("_")[0]
        assert set(asked) <= metrics()[selector.name][1] | {"namespace", "job"}, selector.prettify()
        assert asked["namespace"] == "$namespace"
        assert asked["job"] == {"launcher": "$release", "operator": "$release-operator"}[program]


@each
def test_a_panel_says_what_it_shows(title):
    panel = PANELS[title]
    assert panel["description"].endswith(".")
    for target in panel["targets"]:
        shown = target["legendFormat"].strip("{}")
        by = f"by ({shown})" in target["expr"]
        assert by or "{{" not in target["legendFormat"] or shown == "pod", target["legendFormat"]


def test_nothing_that_is_measured_is_left_out():
    shown = {selector.name for title in PANELS for selector in selectors(title)}
    listed = {name.removesuffix("_bucket") for name in metrics() if not name.endswith(("_sum", "_count"))}
    left = {name for name in listed if name not in shown and f"{name}_bucket" not in shown}
    # Sidecars are not collected; what came into a state is in the states themselves.
    assert {name for name in left if not name.startswith("sidecar_") and "transitions" not in name} == set()
