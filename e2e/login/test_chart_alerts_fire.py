"""The chart's alerts as Prometheus evaluates them: promtool plays alerts/*.yaml. No cluster is needed.

A case has an alert's name, a description, and the series that Prometheus collects: for each target the values of its
series, one per minute from minute 0. `7x4` is 7 and four repetitions, `0+2x4` counts 0 2 4 6 8, `_x4` is a gap of four
minutes, `stale` ends a target. The tests add the labels of targets, and `up` for each target with series. `fires` is
the first minute in which the alert fires, `ends` the first in which it no longer fires. `says` has the annotations that
vary. Without `fires` the alert never fires. A case with `only` instead of an alert lists all alerts that ever fire. The
rules are those of ci/full-values.yaml: 16 concurrent starts, 200 queued launches.
"""

import re

import pytest
import yaml

import promtool
from chart import LOGIN, SETS, objects
from series import metrics

RULES = {name: found[0]["spec"] for name in SETS if (found := objects(name, "PrometheusRule"))}
ALERTS = {rule["alert"]: rule for group in RULES["full"]["groups"] for rule in group["rules"]}
# Reads all values as text: `0x10` is a number for YAML.
CASES = [case for path in sorted((LOGIN / "alerts").iterdir()) for case in yaml.load(path.read_text(), yaml.BaseLoader)]
TOGETHER = {case["when"]: case for case in CASES if "only" in case}
each = pytest.mark.parametrize("alert", ALERTS)


def cases(alert, fires):
    return [case for case in CASES if case.get("alert") == alert and ("fires" in case) == fires]


def targets(case):
    return {name: told for name, told in case.items() if " " in name}


def end(case):
    """Returns the last minute for which a case has values."""
    told = [values for target in targets(case).values() for values in target.values()]
    return int(case["until"]) if "until" in case else max(map(promtool.length, told)) - 1


def never_fires(case):
    """Returns promtool's check that the alert fires in no minute."""
    fired = f'count_over_time(ALERTS{{alertstate="firing", alertname="{case["alert"]}"}}[{end(case) + 1}m])'
    return {"promql_expr_test": [{"expr": fired, "eval_time": f"{end(case)}m"}]}


def fires(case):
    """Returns promtool's checks that the alert fires from `fires` until `ends`, with these labels and annotations."""
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
    """Plays a case with these checks."""

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
        assert end(case) > waits, f"nothing could fire: {case['when']}"
        play(case, never_fires(case))


@pytest.mark.parametrize("when", TOGETHER)
def test_only_expected_alerts_fire(when, play):
    case = TOGETHER[when]
    minute = f"{end(case)}m"
    fired = f'group by (alertname) (count_over_time(ALERTS{{alertstate="firing"}}[{end(case) + 1}m]))'
    wanted = [{"labels": f'{{alertname="{alert}"}}', "value": 1} for alert in case["only"]]
    play(case, {"promql_expr_test": [{"expr": fired, "eval_time": minute, "exp_samples": wanted}]})


def test_cases_name_existing_alerts_and_series():
    known = metrics() | {"up": ("gauge", set())}
    for case in CASES:
        assert case.get("alert", "WorkshopLauncherDown") in ALERTS and set(case.get("only", [])) <= set(ALERTS)
        for told in targets(case).values():
            for name, labels in (re.fullmatch(r"(\w+)(\{.*\})?", one).groups() for one in told):
                own = known[name][1] - ({"le"} if name.endswith(("_count", "_sum")) else set())
                assert set(re.findall(r"(\w+)=", labels or "")) == own, name


@pytest.mark.parametrize("name", RULES)
def test_promtool_accepts_the_rules(name, tmp_path):
    (tmp_path / "rules.yaml").write_text(yaml.safe_dump(RULES[name]))
    status, said = promtool.promtool("check", "rules", "--lint=all", "--lint-fatal", tmp_path / "rules.yaml")
    assert status == 0 and f"SUCCESS: {len(ALERTS)} rules found" in said, said
