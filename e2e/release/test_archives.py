"""Tests packaging/release/oci.py with small images."""

import gzip
import hashlib
import io
import json
import os
import subprocess
import tarfile
from pathlib import Path

import pytest

PROGRAM = Path(__file__).resolve().parents[2] / "packaging/release/oci.py"
INDEX = "application/vnd.oci.image.index.v1+json"
MANIFEST = "application/vnd.oci.image.manifest.v1+json"


def oci(*arguments, epoch="1700000000"):
    done = subprocess.run(
        ["python3", PROGRAM, *map(str, arguments)], env=os.environ | {"SOURCE_DATE_EPOCH": epoch}, capture_output=True, text=True
    )
    return done.stdout if done.returncode == 0 else f"failed: {done.stderr}"


def add(layout, content, kind):
    """Adds a blob to a layout. Returns its descriptor."""
    if not isinstance(content, bytes):
        content = json.dumps(content).encode()
    digest = hashlib.sha256(content).hexdigest()
    (layout / "blobs/sha256").mkdir(parents=True, exist_ok=True)
    (layout / "blobs/sha256" / digest).write_bytes(content)
    return {"mediaType": kind, "digest": f"sha256:{digest}", "size": len(content)}


def add_image(layout, architecture):
    layer = io.BytesIO()
    with tarfile.open(fileobj=layer, mode="w") as files:
        member = tarfile.TarInfo("usr/bin/program")
        member.size, member.mode = len(architecture), 0o755
        files.addfile(member, io.BytesIO(architecture.encode()))
    configuration = {"architecture": architecture, "os": "linux"}
    manifest = {
        "schemaVersion": 2, "mediaType": MANIFEST,
        "config": add(layout, configuration, "application/vnd.oci.image.config.v1+json"),
        "layers": [add(layout, gzip.compress(layer.getvalue(), mtime=0), "application/vnd.oci.image.layer.v1.tar+gzip")],
    }
    return add(layout, manifest, MANIFEST)


def write_index(layout, *descriptors):
    (layout / "index.json").write_text(json.dumps({"schemaVersion": 2, "manifests": descriptors}))


@pytest.fixture
def archives(tmp_path):
    """Archives of one image for amd64 and one for arm64."""
    for architecture in ("amd64", "arm64"):
        layout = tmp_path / f"layout-{architecture}"
        write_index(layout, {**add_image(layout, architecture), "annotations": {"org.opencontainers.image.created": "now"}})
        assert oci("image", layout, tmp_path / f"{architecture}.tar") == ""
    return [tmp_path / "amd64.tar", tmp_path / "arm64.tar"]


def test_archive_does_not_depend_on_builder(archives, tmp_path):
    layout = tmp_path / "nested"
    image = add_image(layout, "amd64")
    attestation = add(layout, {"schemaVersion": 2}, MANIFEST) | {"platform": {"architecture": "unknown", "os": "unknown"}}
    write_index(layout, add(layout, {"schemaVersion": 2, "manifests": [image, attestation]}, INDEX))
    assert oci("image", layout, tmp_path / "other.tar") == ""
    assert (tmp_path / "other.tar").read_bytes() == archives[0].read_bytes()


def test_index_has_image_of_each_architecture(archives, tmp_path):
    for number, order in enumerate((archives, archives[::-1])):
        assert oci("index", tmp_path / f"index-{number}.tar", *order) == ""
    assert (tmp_path / "index-0.tar").read_bytes() == (tmp_path / "index-1.tar").read_bytes()
    lines = dict(line.split() for line in oci("digests", tmp_path / "index-0.tar").splitlines())
    assert lines == {"amd64": oci("digest", archives[0]).strip(), "arm64": oci("digest", archives[1]).strip()}
    with tarfile.open(tmp_path / "index-0.tar") as files:
        top = json.load(files.extractfile("index.json"))["manifests"]
        content = files.extractfile("blobs/" + top[0]["digest"].replace(":", "/")).read()
    assert oci("digest", tmp_path / "index-0.tar").strip() == "sha256:" + hashlib.sha256(content).hexdigest()
    assert [each["platform"] for each in json.loads(content)["manifests"]] == [
        {"architecture": "amd64", "os": "linux"}, {"architecture": "arm64", "os": "linux"}
    ]


def test_extract_unpacks_files_of_image(archives, tmp_path):
    assert oci("extract", archives[1], tmp_path / "files") == ""
    assert (tmp_path / "files/usr/bin/program").read_text() == "arm64"
    assert (tmp_path / "files/usr/bin/program").stat().st_mode & 0o777 == 0o755


def test_changed_blob_is_refused(archives, tmp_path):
    layout = tmp_path / "layout-amd64"
    for blob in (layout / "blobs/sha256").iterdir():
        blob.write_bytes(blob.read_bytes() + b" ")
    assert "another digest" in oci("image", layout, tmp_path / "bad.tar")
