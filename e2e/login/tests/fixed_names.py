"""Prerequisites of an installation with the names of the documentation: the release and its namespaces."""

import os
import pathlib
import re
import shutil

import pytest
import yaml

from chain import DEFINITIONS, end_pods, helm, kubectl, node_images
from harness import ROOT
from yaml_files import load

RELEASE, NAMESPACE, WORKSHOPS = "workshop-launcher", "launcher", "workshops"
VOLUME = pathlib.Path("/var/tmp/workshop-launcher-data")
BUILT = "localhost/workshop-launcher"
IMAGES = load((ROOT / "charts/workshop-launcher/values.yaml").read_text())["images"]

only_on_own_cluster = pytest.mark.skipif(
    "TEST_KUBECONFIG" in os.environ, reason="a foreign cluster may have these namespaces already"
)


def node_names(images):
    """Returns the names under which containerd looks for these references: an image with a digest has no tag."""
    return {re.sub(r":[^:@/]+@", "@", reference): name for reference, name in images.items()}


def prepare(images):
    """Prepares what the documented clusters have: images, a volume for the chart's claim, no CRD of another release.

    `images`: {reference in a registry: name of the tests' image}.
    """
    for reference, name in node_names(images).items():
        node_images("tag", "--force", f"{BUILT}/{name}:test", reference)
    VOLUME.mkdir(exist_ok=True)
    os.chown(VOLUME, 65532, 65532)
    volume = {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": RELEASE},
        "spec": {
            "capacity": {"storage": "1Gi"},
            "accessModes": ["ReadWriteOnce"],
            "claimRef": {"namespace": NAMESPACE, "name": RELEASE},
            "hostPath": {"path": str(VOLUME)},
        },
    }
    kubectl("apply", "--filename", "-", input=yaml.safe_dump(volume))
    for definition in DEFINITIONS:
        if kubectl("get", "customresourcedefinition", definition, "--ignore-not-found", "--output", "name"):
            # Another test has installed the CRD. Helm refuses objects of another owner.
            release = (f"meta.helm.sh/release-name={RELEASE}", f"meta.helm.sh/release-namespace={NAMESPACE}")
            kubectl("annotate", "--overwrite", "customresourcedefinition", definition, *release)
            kubectl("label", "--overwrite", "customresourcedefinition", definition, "app.kubernetes.io/managed-by=Helm")


def remove(images, platform):
    """Removes the release, the objects of these manifests, the volume, and the additional names of the images."""
    helm("uninstall", RELEASE, "--namespace", NAMESPACE, "--ignore-not-found")
    end_pods(NAMESPACE, WORKSHOPS)
    kubectl("delete", "namespace", NAMESPACE, WORKSHOPS, "--ignore-not-found", "--wait=false")
    kubectl("delete", "--filename", platform, "--ignore-not-found")
    kubectl("wait", "namespace", NAMESPACE, WORKSHOPS, "--for=delete", "--timeout=280s")
    kubectl("delete", "persistentvolume", RELEASE, "--ignore-not-found")
    shutil.rmtree(VOLUME, ignore_errors=True)
    node_images("remove", *node_names(images))
