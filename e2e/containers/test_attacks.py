"""The attacks of attacks.toml, from a workshop of each security profile: none gains anything, and each probe works where
it may."""

import tomllib

import pytest
from attack_world import HERE, PROFILES, AttackWorld

ATTACKS = tomllib.loads((HERE / "attacks.toml").read_text())["attack"]
CASES = [
    pytest.param(attack, profile, id=f"{attack['name']}, {profile}")
    for attack in ATTACKS
    for profile in PROFILES
    if attack.get("only", profile) == profile
]
# Refusals of the control that show that this machine has no such thing, which no workshop can use either.
ABSENT = (
    "Function not implemented", "No such file", "not supported by protocol", "Protocol not supported", "No such device",
    "Invalid argument", "resource busy", "Name or service not known",
)


@pytest.fixture(scope="module")
def world():
    with AttackWorld() as made:
        yield made


@pytest.fixture(scope="module")
def values(world):
    return {profile: world.values(attacker) for profile, attacker in world.attackers.items()}


def filled(words, values):
    return [word.format(**values) for word in words]


def controls(attack):
    """Returns the probes of an attack's control."""
    return [attack["proof"]] if "proof" in attack else attack["probes"]


@pytest.fixture(scope="module")
def results(world, values):
    """Results of all attacks, and of all their controls, place by place: {(place, words): (gained, seen)}."""
    many = {}
    for attack in ATTACKS:
        for profile in PROFILES:
            if attack.get("only", profile) == profile:
                place = attack.get("from") or world.attackers[profile]
                many.setdefault(place, []).extend(filled(words, values[profile]) for words in attack["probes"])
        place, own = attack.get("control", "host"), values[attack.get("only", "restricted")]
        many.setdefault(place, []).extend(filled(words, own) for words in controls(attack))
    seen = {}
    for place, probes in many.items():
        seen.update({(place, *words): result for words, result in zip(probes, world.probe(place, probes))})
    return seen


@pytest.mark.parametrize(("attack", "profile"), CASES)
def test_attack_gains_nothing(world, values, results, attack, profile):
    place = attack.get("from") or world.attackers[profile]
    seen = {" ".join(words): results[place, *filled(words, values[profile])] for words in attack["probes"]}
    assert {name: said for name, (is_gained, said) in seen.items() if is_gained} == {}


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack["name"])
def test_probe_works_where_it_may(values, results, attack):
    """Each probe of an attack gains something at the place of its control, if this machine has what it attacks."""
    own, place = values[attack.get("only", "restricted")], attack.get("control", "host")
    seen = {" ".join(words): results[place, *filled(words, own)] for words in controls(attack)}
    broken = {name: said for name, (is_gained, said) in seen.items() if not is_gained and not is_absent(said)}
    assert broken == {}
    assert any(is_gained for is_gained, _ in seen.values()), seen


def is_absent(said):
    return any(text in said for text in ABSENT)


def test_victim_is_undisturbed(world):
    assert world.started(world.victim) == world.victim_started
    assert world.run(world.victim, "bash", "-c", "cat ~/homework-*") == (0, f"{world.marker}\n")
    assert world.instance(world.victim)["state"] == "running"
    for attacker in world.attackers.values():
        assert world.instance(attacker)["state"] == "running"


def test_internet_is_open(world, values):
    """The network of a workshop works: addresses and names of the internet."""
    reach = [
        ["tcp", "{INTERNET}", "80"], ["tcp", "{INTERNET_NAME}", "80"], ["udp", "{INTERNET}", "9999"], ["dns", "{INTERNET}"],
        ["mapped", "{INTERNET}", "80"], ["bound_to_device", "{INTERNET}", "80"],
    ]
    for profile, attacker in world.attackers.items():
        results = world.probe(attacker, [filled(words, values[profile]) for words in reach])
        assert [words for words, (is_gained, _) in zip(reach, results) if not is_gained] == []
