"""Tests of the chart's alerts: queries, labels, runbooks, and when they fire. No cluster is needed.

promtool evaluates the rules over the series of alerts/*.yaml. Fields of a case:
- `alert`: name of the tested alert.
- `when`: description of the case.
- `fires`: first minute in which the alert fires. Without this field, the alert must never fire.
- `ends`: first minute in which the alert no longer fires.
- `says`: expected annotations that depend on the series.
- `only`: all alerts that fire in this case. Replaces `alert`.
- A target, such as `launcher a`: its series, with one value per minute from minute 0.

Values of a series: `7x4` is 7 and four repetitions, `0+2x4` counts 0 2 4 6 8, `_x4` is a gap of four minutes, and
`stale` is the end of a target. The tests add the labels of each target and its series `up`.

The rules come from ci/full-values.yaml, with limits of 16 concurrent starts and 200 queued launches.
"""

import json
import re

import promql_parser
import pytest
import yaml

import promtool
from chart import LOGIN, RELEASE, ROOT, render
from series import metrics

BASE = "https://docs.example.org/workshops/runbooks"
FULL = render("full")
RULES = next(iter(FULL.named("PrometheusRule").values()))["spec"]
ALERTS = {rule["alert"]: rule for group in RULES["groups"] for rule in group["rules"]}
JOBS = {"launcher": RELEASE, "operator": f"{RELEASE}-operator"}
# BaseLoader reads all values as text, because YAML would read `0x10` as a hexadecimal number.
CASES = [case for path in sorted((LOGIN / "alerts").iterdir()) for case in yaml.load(path.read_text(), yaml.BaseLoader)]
each = pytest.mark.parametrize("alert", ALERTS)


def nodes(alert, wanted):
    """Returns all nodes of this type in the parsed PromQL expression of an alert."""
    found = []
    promql_parser.walk(promql_parser.parse(ALERTS[alert]["expr"]), found.append)
    return [node for node in found if isinstance(node, wanted)]


@each
def test_alert_selects_existing_series_of_collected_targets(alert):
    services = {name: found["metadata"]["labels"] for name, found in FULL.named("Service").items()}
    wanted = FULL.named("ServiceMonitor")[RELEASE]["spec"]["selector"]["matchExpressions"][0]
    collected = {name for name, labels in services.items() if labels[wanted["key"]] in wanted["values"]}
    assert collected == set(JOBS.values())
    states = json.loads((ROOT / "docs/openapi.json").read_text())["components"]["schemas"]["StateName"]["enum"]
    selectors = nodes(alert, promql_parser.VectorSelector)
    assert selectors
    for selector in selectors:
        asked = {one.name: one.value for one in selector.matchers.matchers}
        labels = set() if selector.name == "up" else metrics()[selector.name][1]
        assert set(asked) <= labels | {"namespace", "job"}, selector.prettify()
        assert set(asked.get("state", "queued").split("|")) <= set(states) and asked.get("outcome", "ok") in ("ok", "error")
        program = selector.name.split("_")[0]
        assert asked["namespace"] == ("course-2026" if program == "sidecar" else "launcher")
        # A selector of `up` may omit the job: the series `up` of any target proves that Prometheus was running.
        assert program == "sidecar" or asked.get("job", RELEASE if program == "up" else "") in (
            collected if program == "up" else {JOBS[program]}
        )
    for part in nodes(alert, promql_parser.MatrixSelector):
        assert metrics()[part.vector_selector.name][0] in ("counter", "histogram"), part.prettify()


def runbooks():
    """Returns the runbooks of docs/runbooks.md: {heading: text}."""
    parts = re.split(r"^## (.+)\n", (ROOT / "docs/runbooks.md").read_text(), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


@each
def test_alert_has_severity_and_runbook(alert):
    rule, text = ALERTS[alert], runbooks()[alert]
    assert rule["labels"]["severity"] in ("critical", "warning")
    # Alertmanager may route alerts by namespace. A query with sum() drops this label, so the rule must set it.
    assert rule["labels"]["namespace"] == "launcher"
    assert set(rule["annotations"]) == {"summary", "description", "runbook_url"} and all(rule["annotations"].values())
    # GitHub's anchor of a one-word heading is the heading in lower case.
    assert rule["annotations"]["runbook_url"] == f"{BASE}#{alert.lower()}"
    assert f"*{rule['labels']['severity']}.*" in text
    assert [word for word in ("users", "**look**", "**over**") if word not in text.lower()] == []


def test_runbooks_have_same_names_and_order_as_alerts():
    assert list(runbooks()) == list(ALERTS)


def targets(case):
    return {name: told for name, told in case.items() if " " in name}


def end(case):
    """Returns the last minute of a case."""
    told = [values for target in targets(case).values() for values in target.values()]
    return int(case["until"]) if "until" in case else max(map(promtool.length, told)) - 1


def firing(case, start, selector=""):
    """Returns a PromQL expression of the minutes in which alerts fire during a case."""
    return f'{start}(count_over_time(ALERTS{{alertstate="firing"{selector}}}[{end(case) + 1}m]))'


def checks(case):
    """Returns the promtool checks of a case."""
    until = end(case)
    if "only" in case:
        wanted = [{"labels": f'{{alertname="{alert}"}}', "value": 1} for alert in case["only"]]
        return {"promql_expr_test": [
            {"expr": firing(case, "group by (alertname) "), "eval_time": f"{until}m", "exp_samples": wanted}
        ]}
    alert = case["alert"]
    rule, minutes = ALERTS[alert], firing(case, "sum", f', alertname="{alert}"')
    if "fires" not in case:
        return {"promql_expr_test": [{"expr": minutes, "eval_time": f"{until}m"}]}
    first, ends = int(case["fires"]), int(case.get("ends", until + 1))
    wanted = {
        "exp_labels": rule["labels"] | case.get("labels", {}), "exp_annotations": rule["annotations"] | case.get("says", {}),
    }
    silent = [minute for minute in (first - 1, ends) if minute <= until]
    return {
        "alert_rule_test": [
            {"alertname": alert, "eval_time": f"{first}m", "exp_alerts": [wanted]},
            *({"alertname": alert, "eval_time": f"{minute}m"} for minute in silent),
        ],
        "promql_expr_test": [
            {"expr": minutes, "eval_time": f"{until}m", "exp_samples": [{"labels": "{}", "value": ends - first}]}
        ],
    }


@pytest.mark.parametrize("alert", [*ALERTS, None], ids=lambda alert: alert or "all-alerts-together")
def test_alert_fires_and_resolves_on_time_and_never_in_negative_cases(alert, tmp_path):
    """promtool names the cases that fail. It evaluates the rule of this alert only, which takes the least time."""
    groups = [group | {"rules": [rule for rule in group["rules"] if alert in (None, rule["alert"])]} for group in RULES["groups"]]
    cases = [case for case in CASES if case.get("alert") == alert]
    tests = [{"name": case["when"], "input_series": promtool.collected(targets(case))} | checks(case) for case in cases]
    status, said = promtool.play(tmp_path, *tests, rules={"groups": groups})
    assert status == 0, said


def test_each_alert_has_positive_and_negative_cases_with_existing_series():
    known = metrics() | {"up": ("gauge", set())}
    for alert, rule in ALERTS.items():
        waits = int(re.fullmatch(r"(\d+)m", rule.get("for", "0m").replace("1h", "60m"))[1])
        ends = [end(case) for case in CASES if case.get("alert") == alert and "fires" not in case]
        assert ends and min(ends) > waits, f"{alert}: a case is shorter than the waiting time"
    assert {case["alert"] for case in CASES if "fires" in case} == set(ALERTS)
    for case in CASES:
        assert case.get("alert", "WorkshopLauncherDown") in ALERTS and set(case.get("only", [])) <= set(ALERTS)
        for told in targets(case).values():
            for name, labels in (re.fullmatch(r"(\w+)(\{.*\})?", one).groups() for one in told):
                own = known[name][1] - ({"le"} if name.endswith(("_count", "_sum")) else set())
                assert set(re.findall(r"(\w+)=", labels or "")) == own, name


def test_promtool_accepts_alert_rules(tmp_path):
    (tmp_path / "rules.yaml").write_text(yaml.safe_dump(RULES))
    status, said = promtool.promtool("check", "rules", "--lint=all", "--lint-fatal", tmp_path / "rules.yaml")
    assert status == 0 and f"SUCCESS: {len(ALERTS)} rules found" in said, said
