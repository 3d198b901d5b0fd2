"""Tests of the Grafana dashboard in the chart. No cluster and no Grafana is needed: promtool evaluates the queries."""

import collections
import itertools
import json

import promql_parser
import pytest

import promtool
from chart import RELEASE, render
from series import metrics

DASHBOARD = json.loads(render("full").data(f"{RELEASE}-dashboard")["workshop-launcher.json"])
PANELS = {panel["title"]: panel for panel in DASHBOARD["panels"] if panel["type"] != "row"}
each = pytest.mark.parametrize("title", PANELS)
# Values of Grafana's variables, as if a user selected the release of ci/full-values.yaml.
CHOSEN = {"$__rate_interval": "5m", "$namespace": "launcher", "$release": "workshop-launcher"}


def asked(title, *variables):
    """Yields the queries of a panel, after replacing these variables of Grafana by their values."""
    for target in PANELS[title]["targets"]:
        question = target["expr"]
        for variable in variables:
            question = question.replace(variable, CHOSEN[variable])
        yield question


def selectors(title):
    """Returns the parsed metric selectors of all queries of a panel."""
    found = []
    for question in asked(title, "$__rate_interval"):
        promql_parser.walk(promql_parser.parse(question), found.append)
    return [node for node in found if isinstance(node, promql_parser.VectorSelector)]


def label_values():
    """Returns the values that selectors of panels require: {label: values}. Any value of other labels matches all panels."""
    found = collections.defaultdict(set)
    for one in (one for title in PANELS for selector in selectors(title) for one in selector.matchers.matchers):
        if one.op == promql_parser.MatchOp.Equal:
            found[one.name].add(one.value)
    return found


@each
def test_panel_has_description_and_legend_and_queries_existing_metrics(title):
    panel = PANELS[title]
    assert panel["description"].endswith(".")
    for target in panel["targets"]:
        shown = target["legendFormat"].strip("{}")
        by = f"by ({shown})" in target["expr"]
        assert by or "{{" not in target["legendFormat"] or shown == "pod", target["legendFormat"]
    assert selectors(title)
    for selector in selectors(title):
        wanted = {one.name: one.value for one in selector.matchers.matchers}
        program = selector.name.split("_")[0]
        assert set(wanted) <= metrics()[selector.name][1] | {"namespace", "job"}, selector.prettify()
        assert wanted["namespace"] == "$namespace"
        assert wanted["job"] == {"launcher": "$release", "operator": "$release-operator"}[program]


def test_every_scraped_metric_has_a_panel():
    shown = {selector.name for title in PANELS for selector in selectors(title)}
    listed = {name.removesuffix("_bucket") for name in metrics() if not name.endswith(("_sum", "_count"))}
    left = {name for name in listed if name not in shown and f"{name}_bucket" not in shown}
    # Prometheus does not scrape sidecars. Transitions need no panel, because panels show the number of each state.
    assert {name for name in left if not name.startswith("sidecar_") and "transitions" not in name} == set()


def everything(program):
    """Yields (series, values) for each metric of a program and each required value of its labels, for ten minutes."""
    values = label_values()
    for name, (kind, labels) in metrics().items():
        if not name.startswith(program):
            continue
        known = [[f'{label}="{value}"' for value in values.get(label, ["some"])] for label in sorted(labels - {"le"})]
        ends = [['le="1.0"', 'le="+Inf"']] if name.endswith("_bucket") else []
        for own in itertools.product(*known, *ends):
            yield f"{name}{{{', '.join(own)}}}", "1x10" if kind == "gauge" else "0+3x10"


def test_panel_queries_return_results(tmp_path):
    programs = {f"{program} a": dict(everything(program)) for program in ("launcher", "operator")}
    # A quotient without data is NaN, which a panel does not show. `>= 0` drops NaN, so that this test fails for it.
    questions = [f"count(({question}) >= 0) > bool 0" for title in PANELS for question in asked(title, *CHOSEN)]
    answered = [{"expr": one, "eval_time": "9m", "exp_samples": [{"labels": "{}", "value": 1}]} for one in questions]
    status, said = promtool.play(tmp_path, {"input_series": promtool.collected(programs), "promql_expr_test": answered})
    assert status == 0, said


def test_phase_panel_shows_only_counts_of_leading_operator(tmp_path):
    """A former leader reports its old counts until it exits. The panel must not add these to the leader's counts."""
    before = {"operator_leading": "1x2 0x7", 'operator_workshops{phase="Running"}': "70x9"}
    leader = {"operator_leading": "0x2 1x7", 'operator_workshops{phase="Running"}': "_x3 40x6"}
    collected = promtool.collected({"operator a": before, "operator b": leader})
    (question,) = asked("Workshops by phase", *CHOSEN)
    answered = [{"expr": question, "eval_time": "9m", "exp_samples": [{"labels": '{phase="Running"}', "value": 40}]}]
    status, said = promtool.play(tmp_path, {"input_series": collected, "promql_expr_test": answered})
    assert status == 0, said
