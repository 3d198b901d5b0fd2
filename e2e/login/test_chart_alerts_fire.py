"""Tests when the chart's alerts fire: promtool evaluates the rules over the series of alerts/*.yaml.

No cluster is needed.

Fields of a case:
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

import re

import pytest
import yaml

import promtool
from chart import LOGIN, SETS, objects
from series import metrics

RULES = {name: found[0]["spec"] for name in SETS if (found := objects(name, "PrometheusRule"))}
ALERTS = {rule["alert"]: rule for group in RULES["full"]["groups"] for rule in group["rules"]}
# BaseLoader reads all values as text, because YAML would read `0x10` as a hexadecimal number.
CASES = [case for path in sorted((LOGIN / "alerts").iterdir()) for case in yaml.load(path.read_text(), yaml.BaseLoader)]
TOGETHER = {case["when"]: case for case in CASES if "only" in case}
each = pytest.mark.parametrize("alert", ALERTS)


def cases(alert, fires):
    return [case for case in CASES if case.get("alert") == alert and ("fires" in case) == fires]


def targets(case):
    return {name: told for name, told in case.items() if " " in name}


def end(case):
    """Returns the last minute of a case."""
    told = [values for target in targets(case).values() for values in target.values()]
    return int(case["until"]) if "until" in case else max(map(promtool.length, told)) - 1


def never_fires(case):
    """Returns a promtool check that the alert never fires in this case."""
    fired = f'count_over_time(ALERTS{{alertstate="firing", alertname="{case["alert"]}"}}[{end(case) + 1}m])'
    return {"promql_expr_test": [{"expr": fired, "eval_time": f"{end(case)}m"}]}


def fires(case):
    """Returns promtool checks that the alert fires from `fires` until `ends`, with its labels and annotations."""
    rule, alert, until, first = ALERTS[case["alert"]], case["alert"], end(case), int(case["fires"])
    ends = int(case.get("ends", until + 1))
    wanted = {
        "exp_labels": rule["labels"] | case.get("labels", {}),
        "exp_annotations": rule["annotations"] | case.get("says", {}),
    }
    silent = [minute for minute in (first - 1, ends) if minute <= until]
    minutes = f'sum(count_over_time(ALERTS{{alertstate="firing", alertname="{alert}"}}[{until + 1}m]))'
    lasts = [{"labels": "{}", "value": ends - first}]
    return {
        "alert_rule_test": [
            {"alertname": alert, "eval_time": f"{first}m", "exp_alerts": [wanted]},
            *({"alertname": alert, "eval_time": f"{minute}m"} for minute in silent),
        ],
        "promql_expr_test": [{"expr": minutes, "eval_time": f"{until}m", "exp_samples": lasts}],
    }


@pytest.fixture
def play(tmp_path):
    """Returns a function that evaluates a case with promtool, and fails unless all checks pass."""

    def played(case, questions):
        collected = [one for name, told in targets(case).items() for one in promtool.series(name, told)]
        status, said = promtool.play(tmp_path, RULES["full"], name=case["when"], input_series=collected, **questions)
        assert status == 0, said

    return played


@each
def test_alert_fires_and_resolves_on_time(alert, play):
    assert cases(alert, fires=True)
    for case in cases(alert, fires=True):
        play(case, fires(case))


@each
def test_alert_does_not_fire_in_negative_cases(alert, play):
    assert cases(alert, fires=False)
    for case in cases(alert, fires=False):
        waits = int(re.fullmatch(r"(\d+)m", ALERTS[alert].get("for", "0m").replace("1h", "60m"))[1])
        assert end(case) > waits, f"the case is shorter than the waiting time of the alert: {case['when']}"
        play(case, never_fires(case))


@pytest.mark.parametrize("when", TOGETHER)
def test_fault_fires_only_expected_alerts(when, play):
    case = TOGETHER[when]
    minute = f"{end(case)}m"
    fired = f'group by (alertname) (count_over_time(ALERTS{{alertstate="firing"}}[{end(case) + 1}m]))'
    wanted = [{"labels": f'{{alertname="{alert}"}}', "value": 1} for alert in case["only"]]
    play(case, {"promql_expr_test": [{"expr": fired, "eval_time": minute, "exp_samples": wanted}]})


def test_alert_cases_use_existing_alerts_and_series():
    known = metrics() | {"up": ("gauge", set())}
    for case in CASES:
        assert case.get("alert", "WorkshopLauncherDown") in ALERTS and set(case.get("only", [])) <= set(ALERTS)
        for told in targets(case).values():
            for name, labels in (re.fullmatch(r"(\w+)(\{.*\})?", one).groups() for one in told):
                own = known[name][1] - ({"le"} if name.endswith(("_count", "_sum")) else set())
                assert set(re.findall(r"(\w+)=", labels or "")) == own, name


@pytest.mark.parametrize("name", RULES)
def test_promtool_accepts_alert_rules(name, tmp_path):
    (tmp_path / "rules.yaml").write_text(yaml.safe_dump(RULES[name]))
    status, said = promtool.promtool("check", "rules", "--lint=all", "--lint-fatal", tmp_path / "rules.yaml")
    assert status == 0 and f"SUCCESS: {len(ALERTS)} rules found" in said, said
