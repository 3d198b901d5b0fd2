"""Tests of the chart's values for images. No cluster is needed."""

import json

import pytest

from chart import CHART, RELEASE, helm, render, values_of
from yaml_files import load_all

DIGEST = f"sha256:{'0123456789abcdef' * 4}"


def programs(name, images):
    """Renders a set of values with these values of images. Returns {name of a Deployment: its container}."""
    words = [word for image, value in images.items() for word in ("--set-json", f"images.{image}={json.dumps(value)}")]
    found = [one for one in load_all(render(name, *words)) if one and one["kind"] == "Deployment"]
    return {one["metadata"]["name"]: one["spec"]["template"]["spec"]["containers"][0] for one in found}


def setting(pods, name):
    """Returns a setting of the operator; None if the chart does not set it."""
    env = pods[f"{RELEASE}-operator"]["env"]
    return next((one["value"] for one in env if one["name"] == name), None)


@pytest.mark.parametrize(
    "image,reference,policy",
    [
        ({"repository": "r.example/x"}, "r.example/x:0.1.0", "IfNotPresent"),
        ({"repository": "r.example/x", "tag": "2"}, "r.example/x:2", "IfNotPresent"),
        ({"repository": "r.example/x", "digest": DIGEST}, f"r.example/x@{DIGEST}", "IfNotPresent"),
        ({"repository": "r:5000/x", "tag": "2", "digest": DIGEST, "pullPolicy": "Never"}, f"r:5000/x:2@{DIGEST}", "Never"),
        (f"r.example/x:2@{DIGEST}", f"r.example/x:2@{DIGEST}", "IfNotPresent"),
    ],
)
@pytest.mark.parametrize("name", ["launcher", "sidecar"])
def test_image_becomes_reference_and_pull_policy(name, image, reference, policy):
    pods = programs("minimal", {name: image})
    for pod in {"launcher": (RELEASE, f"{RELEASE}-operator"), "sidecar": (f"{RELEASE}-notice",)}[name]:
        assert (pods[pod]["image"], pods[pod]["imagePullPolicy"]) == (reference, policy)
    assert setting(pods, "SERVICE_SIDECAR_IMAGE") == (reference if name == "sidecar" else "registry.example.org/sidecar:0.1.0")


@pytest.mark.parametrize(
    "image,reference",
    [
        ("", None),
        ("r.example/material:2", "r.example/material:2"),
        ({"repository": "r.example/material"}, "r.example/material:0.1.0"),
        ({"repository": "r.example/material", "digest": DIGEST}, f"r.example/material@{DIGEST}"),
    ],
)
def test_image_of_course_material_is_optional(image, reference):
    assert setting(programs("minimal", {"material": image}), "SERVICE_MATERIAL_IMAGE") == reference


def test_maps_of_third_party_images_replace_their_default_references():
    image = {"repository": "r.example/x", "digest": DIGEST, "pullPolicy": "Always"}
    pods = programs("any", {"oauth2Proxy": image, "front": image})
    used = {name: (pod["image"], pod["imagePullPolicy"]) for name, pod in pods.items()}
    third_party = {f"{RELEASE}-{name}" for name in ("login", "workshops-login", "front")}
    assert {name for name, one in used.items() if one == (f"r.example/x@{DIGEST}", "Always")} == third_party


@pytest.mark.parametrize(
    "name,image,message",
    [
        ("launcher", {"tag": "2"}, "- images.launcher.repository is missing"),
        ("material", {"tag": "2"}, "- images.material.repository is missing"),
        ("front", {"repository": "r.example/x"}, "- images.front.tag is missing: set it, or images.front.digest"),
        ("oauth2Proxy", {"repository": "r.example/x:1", "digest": DIGEST}, "at '/images/oauth2Proxy/repository': "),
        ("sidecar", {"repository": "r.example/x", "tag": 2}, "at '/images/sidecar/tag': got number, want string"),
        ("sidecar", {"repository": "r.example/x", "digest": "sha256:1"}, "at '/images/sidecar/digest': "),
        ("sidecar", {"name": "r.example/x"}, "at '/images/sidecar': additional properties 'name' not allowed"),
    ],
)
def test_invalid_image_map_is_refused_with_message(name, image, message):
    common = ("--namespace", "launcher", "--values", values_of("minimal"))
    status, text = helm("template", RELEASE, CHART, *common, "--set-json", f"images.{name}={json.dumps(image)}")
    assert status != 0, "helm accepted an invalid image"
    assert message in text
