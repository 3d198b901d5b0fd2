"""Tests bundle.sh, push.sh and sign.sh with small images. Stubs of skopeo, helm and cosign stand for a registry, and
record what they are asked to sign."""

import hashlib
import json
import shutil

import pytest
from test_archives import archives, oci  # noqa: F401
from test_scripts import VERSION, run, sources  # noqa: F401

REGISTRY = "registry.example.org/launcher-project"
IMAGES = ("launcher", "sidecar", "material")
CHART = f"{REGISTRY}/charts/workshop-launcher"
# The registry is a folder with the manifest of each reference. DAMAGE is appended to each pushed manifest.
TOOLS = {
    "skopeo": r'''case "$1 $2" in
  "copy --all")
    archive=${4#oci-archive:} reference=${5#docker://}
    name=$(printf %s "$reference" | tr /: __)
    digest=$(python3 "$OCI" digest "$archive")
    tar --extract --to-stdout --file "$archive" "blobs/sha256/${digest#sha256:}" >"$FOLDER/$name"
    printf %s "$DAMAGE" >>"$FOLDER/$name" ;;
  "inspect --raw") cat "$FOLDER/$(printf %s "${3#docker://}" | tr /: __)" ;;
  *) exit 1 ;;
esac''',
    "helm": r'''[ "$1" = push ] || exit 1
file=$(basename "$2" .tgz)
cp "$2" "$FOLDER/$(printf %s "${3#oci://}/${file%-*}:${file##*-}" | tr /: __)"''',
    "cosign": r'''printf '%s\n' "$*" >>"$FOLDER/signed"''',
}


@pytest.fixture
def release(sources, archives, tmp_path):  # noqa: F811
    """A complete release of small images for amd64 and arm64."""
    for architecture, archive in zip(("amd64", "arm64"), archives):
        parts = tmp_path / architecture
        parts.mkdir()
        for name in IMAGES:
            shutil.copy(archive, parts / f"{name}-{VERSION}-{architecture}.oci.tar")
            (parts / f"{name}-{VERSION}-{architecture}.cdx.json").write_text("{}")
        (parts / f"workshop-launcher-{VERSION}-linux-{architecture}.tar.gz").write_bytes(b"programs")
    folder = tmp_path / "release"
    assert run(sources, "bundle.sh", folder, tmp_path / "amd64", tmp_path / "arm64", REGISTRY=REGISTRY) == (0, "")
    return folder


@pytest.fixture
def publish(sources, tmp_path, monkeypatch):  # noqa: F811
    """Runs a script with the stubs. Returns its exit code, its output, and the lines of cosign."""
    tools, registry = tmp_path / "tools", tmp_path / "registry"
    tools.mkdir()
    registry.mkdir()
    for name, script in TOOLS.items():
        (tools / name).write_text(f"#!/bin/sh\nset -e\n{script}\n")
        (tools / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tools), prepend=":")
    monkeypatch.setenv("OCI", str(sources / "packaging/release/oci.py"))
    monkeypatch.setenv("FOLDER", str(registry))
    monkeypatch.setenv("DAMAGE", "")

    def call(name, folder, **environment):
        code, output = run(sources, name, folder, REGISTRY=REGISTRY, **environment)
        signed = registry / "signed"
        return code, output, signed.read_text().splitlines() if signed.exists() else []

    return call


def digest_of(release, image):  # noqa: F811
    return oci("digest", release / f"{image}-{VERSION}.oci.tar").strip()


def test_bundle_has_checksums_and_references_of_all_images(release):
    references = (release / "images.txt").read_text().splitlines()
    assert references == [f"{REGISTRY}/{name}:{VERSION}@{digest_of(release, name)}" for name in IMAGES]
    sums = dict(reversed(line.split("  ")) for line in (release / "SHA256SUMS").read_text().splitlines())
    files = {path.name for path in release.iterdir()} - {"SHA256SUMS"}
    assert set(sums) == files and len(files) == 1 + 3 + 6 + 2 + 2
    assert all(hashlib.sha256((release / name).read_bytes()).hexdigest() == found for name, found in sums.items())


def test_push_prints_digests_of_images_and_chart(release, publish):
    code, output, _ = publish("push.sh", release)
    assert code == 0
    lines = dict(line.split("=", 1) for line in output.splitlines())
    chart = hashlib.sha256((release / f"workshop-launcher-{VERSION}.tgz").read_bytes()).hexdigest()
    images = {name: digest_of(release, name) for name in IMAGES}
    assert lines == {"registry": REGISTRY, **images, "chart": f"sha256:{chart}"}


def test_push_fails_if_registry_has_another_image(release, publish):
    code, error, _ = publish("push.sh", release, DAMAGE=" ")
    assert code == 1 and "the registry has launcher with the digest sha256:" in error and "which is not in" in error


def test_published_image_is_not_replaced_by_another_one(release, publish, tmp_path):
    assert publish("push.sh", release)[0] == 0
    published = tmp_path / "registry" / f"{REGISTRY}/sidecar:{VERSION}".translate(str.maketrans("/:", "__"))
    published.write_bytes(published.read_bytes() + b" ")
    before = published.read_bytes()
    code, error, _ = publish("push.sh", release)
    assert code == 1 and f"sidecar:{VERSION} is already published" in error
    assert published.read_bytes() == before


def test_images_chart_sboms_and_checksums_are_signed(release, publish):
    assert publish("push.sh", release)[0] == 0
    code, _, signed = publish("sign.sh", release)
    assert code == 0
    for name in IMAGES:
        assert f"sign --yes --recursive {REGISTRY}/{name}:{VERSION}@{digest_of(release, name)}" in signed
        for line in oci("digests", release / f"{name}-{VERSION}.oci.tar").splitlines():
            architecture, digest = line.split()
            predicate = release / f"{name}-{VERSION}-{architecture}.cdx.json"
            assert json.loads(predicate.read_text()) == {}
            assert f"attest --yes --type cyclonedx --predicate {predicate} {REGISTRY}/{name}@{digest}" in signed
    chart = hashlib.sha256((release / f"workshop-launcher-{VERSION}.tgz").read_bytes()).hexdigest()
    assert f"sign --yes {CHART}@sha256:{chart}" in signed
    assert f"sign-blob --yes --bundle {release}/SHA256SUMS.sigstore.json {release}/SHA256SUMS" in signed
    assert len(signed) == 3 + 6 + 1 + 1


def test_sign_fails_if_registry_has_no_chart(release, publish):
    code, _, signed = publish("sign.sh", release)
    assert code != 0 and not [line for line in signed if CHART in line or "sign-blob" in line]
