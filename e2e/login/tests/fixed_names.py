"""Prerequisites of an installation with the names of the documentation: the release and its namespaces."""

import os
import pathlib
import re

import pytest

from chain import DEFINITIONS, hostpath_volume, kubectl, node_images, remove_release
from chart import CHART
from yaml_files import load

RELEASE, NAMESPACE, WORKSHOPS = "workshop-launcher", "launcher", "workshops"
VOLUME = pathlib.Path("/var/tmp/workshop-launcher-data")
BUILT = "localhost/workshop-launcher"
IMAGES = load((CHART / "values.yaml").read_text())["images"]

only_on_own_cluster = pytest.mark.skipif(
    "TEST_KUBECONFIG" in os.environ, reason="a foreign cluster may have these namespaces already"
)


def node_names(images):
    """Returns the names under which containerd looks for these references: an image with a digest has no tag."""
    return {re.sub(r":[^:@/]+@", "@", reference): name for reference, name in images.items()}


def prepare(images, platform):
    """Prepares what the documented clusters have: images, a volume for the chart's claim, no CRD of another release.

    `images`: {reference in a registry: name of the tests' image}. `platform`: manifests of the objects to remove, if an
    earlier run has left them.
    """
    remove(images, platform, wait=True)
    for reference, name in node_names(images).items():
        node_images("tag", "--force", f"{BUILT}/{name}:test", reference)
    hostpath_volume(RELEASE, VOLUME, claimRef={"namespace": NAMESPACE, "name": RELEASE})
    for definition in DEFINITIONS:
        if kubectl("get", "customresourcedefinition", definition, "--ignore-not-found", "--output", "name"):
            # Another test has installed the CRD. Helm refuses objects of another owner.
            release = (f"meta.helm.sh/release-name={RELEASE}", f"meta.helm.sh/release-namespace={NAMESPACE}")
            kubectl("annotate", "--overwrite", "customresourcedefinition", definition, *release)
            kubectl("label", "--overwrite", "customresourcedefinition", definition, "app.kubernetes.io/managed-by=Helm")


def remove(images, platform, wait=False):
    """Removes the release, the objects of these manifests, the volume, and the additional names of the images."""
    remove_release(RELEASE, (NAMESPACE, WORKSHOPS), platform, RELEASE, VOLUME, wait)
    node_images("remove", *node_names(images))
