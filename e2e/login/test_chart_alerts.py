"""Tests of the chart's alerts: queries, labels and runbooks. No cluster is needed."""

import json
import re

import promql_parser
import pytest

from chart import RELEASE, ROOT, SETS, objects
from series import metrics

BASE = "https://docs.example.org/workshops/runbooks"
GROUPS = [group for found in objects("full", "PrometheusRule") for group in found["spec"]["groups"]]
ALERTS = {rule["alert"]: rule for group in GROUPS for rule in group["rules"]}
JOBS = {"launcher": RELEASE, "operator": f"{RELEASE}-operator"}
each = pytest.mark.parametrize("alert", ALERTS)


def nodes(alert, wanted):
    """Returns all nodes of this type in the parsed PromQL expression of an alert."""

    found = []
    promql_parser.walk(promql_parser.parse(ALERTS[alert]["expr"]), found.append)
    return [node for node in found if isinstance(node, wanted)]


def matchers(selector):
    return {one.name: one.value for one in selector.matchers.matchers}


def test_alerts_are_off_by_default():
    assert ALERTS
    assert [name for name in SETS if objects(name, "PrometheusRule")] == ["full"]


@each
def test_alert_uses_existing_metrics_and_labels(alert):
    selectors = nodes(alert, promql_parser.VectorSelector)
    assert selectors
    for selector in selectors:
        kind, own = ("gauge", set()) if selector.name == "up" else metrics()[selector.name]
        assert set(matchers(selector)) <= own | {"namespace", "job"}, selector.prettify()


@each
def test_alert_selects_targets_of_service_monitor(alert):
    services = {found["metadata"]["name"]: found["metadata"]["labels"] for found in objects("full", "Service")}
    wanted = objects("full", "ServiceMonitor")[0]["spec"]["selector"]["matchExpressions"][0]
    collected = {name for name, labels in services.items() if labels[wanted["key"]] in wanted["values"]}
    assert collected == set(JOBS.values())
    for selector in nodes(alert, promql_parser.VectorSelector):
        asked, program = matchers(selector), selector.name.split("_")[0]
        if program == "sidecar":
            assert asked["namespace"] == "course-2026"
            continue
        assert asked["namespace"] == "launcher"
        # A selector of `up` may omit the job: the series `up` of any target proves that Prometheus was running.
        assert asked["job"] == JOBS[program] if program != "up" else asked.get("job", RELEASE) in collected


@each
def test_alert_uses_existing_states_and_outcomes(alert):
    document = json.loads((ROOT / "docs/openapi.json").read_text())
    states = set(document["components"]["schemas"]["StateName"]["enum"])
    for selector in nodes(alert, promql_parser.VectorSelector):
        asked = matchers(selector)
        assert set(asked.get("state", "queued").split("|")) <= states
        assert asked.get("outcome", "ok") in {"ok", "error"}


@each
def test_alert_range_selectors_use_only_counters_and_histograms(alert):
    for part in nodes(alert, promql_parser.MatrixSelector):
        assert metrics()[part.vector_selector.name][0] in ("counter", "histogram"), part.prettify()


@each
def test_alert_has_severity_and_runbook_url(alert):
    rule = ALERTS[alert]
    assert rule["labels"]["severity"] in ("critical", "warning")
    # Alertmanager may route alerts by namespace. A query with sum() drops this label, so the rule must set it.
    assert rule["labels"]["namespace"] == "launcher"
    assert set(rule["annotations"]) == {"summary", "description", "runbook_url"}
    assert all(rule["annotations"].values())
    # GitHub's anchor of a one-word heading is the heading in lower case.
    assert rule["annotations"]["runbook_url"] == f"{BASE}#{alert.lower()}"


def runbooks():
    """Returns the runbooks of docs/runbooks.md: {heading: text}."""
    parts = re.split(r"^## (.+)\n", (ROOT / "docs/runbooks.md").read_text(), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def test_runbooks_have_same_names_and_order_as_alerts():
    assert list(runbooks()) == list(ALERTS)


@each
def test_runbook_has_severity_of_its_alert_and_required_parts(alert):
    text = runbooks()[alert]
    assert f"*{ALERTS[alert]['labels']['severity']}.*" in text
    for word in ("users", "**look**", "**over**"):
        assert word in text.lower(), word


def test_queue_alert_thresholds_match_configured_limits():
    """The limits in ci/full-values.yaml are 16 concurrent starts and 200 queued launches."""
    assert [number.val for number in nodes("WorkshopQueueStuck", promql_parser.NumberLiteral)][-1] == 16
    assert [number.val for number in nodes("WorkshopQueueLong", promql_parser.NumberLiteral)] == [100]
