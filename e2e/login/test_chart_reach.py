"""Each value of the chart reaches the pods that it must reach, and no others. No cluster is needed."""

import pytest

from chart import COMPONENTS
from reach import OF_PODS, OTHER_VALUES, entries, reached, trials

ENTRIES = entries()
# {component: (set of values with its values, Deployments whose pods they must reach)}.
GROUPS = {component: ("full", {component}) for component in COMPONENTS} | {
    "login": ("full", {"login", "workshops-login"}), "notice": ("traefik", {"notice"}),
}


@pytest.mark.parametrize("name", OTHER_VALUES)
def test_value_reaches_listed_pods_only(name):
    found = set().union(*trials(name))
    assert found == ENTRIES.get(name, set()), "if this is intended: e2e/login/render.sh write"


def test_all_listed_values_exist():
    assert ENTRIES.keys() <= set(OTHER_VALUES)


@pytest.mark.parametrize("component", GROUPS)
def test_values_of_a_component_reach_only_its_pods(component):
    name, components = GROUPS[component]
    others = dict.fromkeys((f"{component}.{value}" for value in OF_PODS)) | {f"{component}.resources.limits.memory": "3Gi"}
    assert reached(name, **others | {f"{component}.serviceAccount.name": "other"}) == components


@pytest.mark.parametrize("name", ["full", "traefik"])
def test_all_other_values_reach_no_pod(name):
    """They change other objects: accounts, namespaces, policies, ingresses, monitoring."""
    assert reached(name, **dict.fromkeys(set(OTHER_VALUES) - ENTRIES.keys())) == set()
