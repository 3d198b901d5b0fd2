"""Tests oci.py, bundle.sh, push.sh and sign.sh with small images. Stubs of skopeo, helm and cosign stand for a registry, and
record what they are asked to sign."""

import gzip
import hashlib
import io
import json
import shutil
import tarfile

import pytest

import oci

REGISTRY = "registry.example.org/launcher-project"
IMAGES = ("launcher", "sidecar", "material")
CHART = f"{REGISTRY}/charts/workshop-launcher"
MANIFEST = "application/vnd.oci.image.manifest.v1+json"
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


def add(layout, content, kind):
    """Adds a blob to a layout. Returns its descriptor."""
    content = content if isinstance(content, bytes) else json.dumps(content).encode()
    (layout / "blobs/sha256").mkdir(parents=True, exist_ok=True)
    (layout / oci.path_of(oci.digest(content))).write_bytes(content)
    return {"mediaType": kind, "digest": oci.digest(content), "size": len(content)}


def add_image(layout, architecture):
    layer = io.BytesIO()
    with tarfile.open(fileobj=layer, mode="w") as files:
        member = tarfile.TarInfo("usr/bin/program")
        member.size, member.mode = len(architecture), 0o755
        files.addfile(member, io.BytesIO(architecture.encode()))
    configuration = add(layout, {"architecture": architecture, "os": "linux"}, "application/vnd.oci.image.config.v1+json")
    layers = [add(layout, gzip.compress(layer.getvalue(), mtime=0), "application/vnd.oci.image.layer.v1.tar+gzip")]
    return add(layout, {"schemaVersion": 2, "mediaType": MANIFEST, "config": configuration, "layers": layers}, MANIFEST)


def pack(layout, archive, *descriptors):
    (layout / "index.json").write_text(json.dumps({"schemaVersion": 2, "manifests": descriptors}))
    oci.pack_image(layout, archive)
    return archive


@pytest.fixture(scope="module")
def archives(tmp_path_factory):
    """Archives of one image for amd64 and one for arm64, and the folders of their layouts."""
    folder = tmp_path_factory.mktemp("archives")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SOURCE_DATE_EPOCH", "1700000000")
        return {
            architecture: pack(folder / architecture, folder / f"{architecture}.tar", {
                **add_image(folder / architecture, architecture), "annotations": {"org.opencontainers.image.created": "now"}
            })
            for architecture in ("amd64", "arm64")
        }


@pytest.fixture(autouse=True)
def time_of_commit(monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")


def digest(archive, capsys):
    oci.print_digest(archive)
    return capsys.readouterr().out.strip()


def test_archive_depends_only_on_content(archives, tmp_path, capsys):
    nested = tmp_path / "nested"
    image = add_image(nested, "amd64")
    attestation = add(nested, {"schemaVersion": 2}, MANIFEST) | {"platform": {"architecture": "unknown", "os": "unknown"}}
    other = pack(nested, tmp_path / "other.tar", add(nested, {"schemaVersion": 2, "manifests": [image, attestation]}, oci.INDEX))
    assert other.read_bytes() == archives["amd64"].read_bytes()
    indexes = [tmp_path / "first.tar", tmp_path / "second.tar"]
    oci.pack_index(indexes[0], *archives.values())
    oci.pack_index(indexes[1], *reversed(archives.values()))
    assert indexes[0].read_bytes() == indexes[1].read_bytes()
    oci.print_digests(indexes[0])
    found = dict(line.split() for line in capsys.readouterr().out.splitlines())
    assert found == {architecture: digest(archive, capsys) for architecture, archive in archives.items()}
    content = oci.open_archive(indexes[0]).blob(digest(indexes[0], capsys))
    assert [each["platform"] for each in json.loads(content)["manifests"]] == [{"architecture": each, "os": "linux"} for each in archives]


def test_files_of_image_are_unpacked_and_changed_blob_is_refused(archives, tmp_path):
    oci.extract(archives["arm64"], tmp_path / "files")
    program = tmp_path / "files/usr/bin/program"
    assert program.read_text() == "arm64" and program.stat().st_mode & 0o777 == 0o755
    layout = tmp_path / "layout"
    image = add_image(layout, "amd64")
    for blob in (layout / "blobs/sha256").iterdir():
        blob.write_bytes(blob.read_bytes() + b" ")
    with pytest.raises(AssertionError, match="another digest"):
        pack(layout, tmp_path / "bad.tar", image)


@pytest.fixture(scope="module")
def release(sources, archives, tmp_path_factory):
    """A complete release of small images for amd64 and arm64."""
    folder = tmp_path_factory.mktemp("parts")
    for architecture, archive in archives.items():
        (folder / architecture).mkdir()
        for name in IMAGES:
            shutil.copy(archive, folder / architecture / f"{name}-{sources.version}-{architecture}.oci.tar")
            (folder / architecture / f"{name}-{sources.version}-{architecture}.cdx.json").write_text("{}")
        (folder / architecture / f"workshop-launcher-{sources.version}-linux-{architecture}.tar.gz").write_bytes(b"programs")
    assert sources.run("bundle.sh", folder / "release", folder / "amd64", folder / "arm64", REGISTRY=REGISTRY) == (0, "")
    return folder / "release"


@pytest.fixture
def publish(sources, programs, tmp_path):
    """Runs a script with the stubs. Returns its exit code, its output, and the lines of cosign."""
    (tmp_path / "registry").mkdir()
    variables = {"OCI": str(sources.root / "packaging/release/oci.py"), "FOLDER": str(tmp_path / "registry"), "REGISTRY": REGISTRY}
    for name, script in TOOLS.items():
        variables |= programs(name, script)
    signed = tmp_path / "registry/signed"

    def call(name, folder, damage=""):
        code, output = sources.run(name, folder, **variables, DAMAGE=damage)
        return code, output, signed.read_text().splitlines() if signed.exists() else []

    return call


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.fixture
def expected(release, sources, capsys):
    """The digests of the images and the chart."""
    images = {name: digest(release / f"{name}-{sources.version}.oci.tar", capsys) for name in IMAGES}
    return images | {"chart": f"sha256:{sha256(release / f'workshop-launcher-{sources.version}.tgz')}"}


def test_bundle_has_checksums_and_references_of_all_images(release, sources, expected):
    references = (release / "images.txt").read_text().splitlines()
    assert references == [f"{REGISTRY}/{name}:{sources.version}@{expected[name]}" for name in IMAGES]
    sums = dict(reversed(line.split("  ")) for line in (release / "SHA256SUMS").read_text().splitlines())
    assert sums == {path.name: sha256(path) for path in release.iterdir() if path.name != "SHA256SUMS"}
    assert len(sums) == 1 + 3 + 6 + 2 + 2


def test_images_chart_sboms_and_checksums_are_pushed_and_signed(release, sources, publish, expected, capsys):
    code, output, _ = publish("push.sh", release)
    assert code == 0 and dict(line.split("=", 1) for line in output.splitlines()) == {"registry": REGISTRY, **expected}
    code, _, signed = publish("sign.sh", release)
    wanted = [f"sign --yes {CHART}@{expected['chart']}"]
    wanted += [f"sign-blob --yes --bundle {release}/SHA256SUMS.sigstore.json {release}/SHA256SUMS"]
    for name in IMAGES:
        wanted += [f"sign --yes --recursive {REGISTRY}/{name}:{sources.version}@{expected[name]}"]
        oci.print_digests(release / f"{name}-{sources.version}.oci.tar")
        for architecture, found in (line.split() for line in capsys.readouterr().out.splitlines()):
            predicate = release / f"{name}-{sources.version}-{architecture}.cdx.json"
            wanted += [f"attest --yes --type cyclonedx --predicate {predicate} {REGISTRY}/{name}@{found}"]
    assert code == 0 and sorted(signed) == sorted(wanted) and len(wanted) == 3 + 6 + 1 + 1


def test_published_image_is_not_replaced_and_other_image_is_reported(release, sources, publish, tmp_path):
    code, error, _ = publish("push.sh", release, damage=" ")
    assert code == 1 and "the registry has launcher with the digest sha256:" in error and "which is not in" in error
    published = tmp_path / "registry" / f"{REGISTRY}/launcher:{sources.version}".translate(str.maketrans("/:", "__"))
    before = published.read_bytes()
    code, error, _ = publish("push.sh", release)
    assert code == 1 and f"launcher:{sources.version} is already published" in error and published.read_bytes() == before


def test_sign_fails_if_registry_has_no_chart(release, publish):
    code, _, signed = publish("sign.sh", release)
    assert code != 0 and not [line for line in signed if CHART in line or "sign-blob" in line]
