"""Tests the scripts of a release that need no compiler."""

import functools
import json
import os
import re
import shutil
import subprocess
import tarfile
import tempfile
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
IMAGES = [f"registry.example.org/{name}:1@sha256:{name[0] * 64}" for name in ("launcher", "sidecar", "material")]
URL = "https://github.com/example/launcher"
CHART = ROOT / "charts/workshop-launcher"
# Debian packages with fields of their status, and the identifiers that the SBOM has for them.
PACKAGES = {
    "ca-certificates": ("Version: 20230311+deb12u1\n", "20230311%2Bdeb12u1?arch=amd64&distro=debian-12"),
    "libc6-dev": ("Source: glibc\nVersion: 2.36-9+deb12u14\n", "2.36-9%2Bdeb12u14?arch=amd64&distro=debian-12&upstream=glibc"),
    "libgcc-12-dev": (
        "Source: gcc-12 (12.2.0-14)\nVersion: 12.2.0-14+b1\n",
        "12.2.0-14%2Bb1?arch=amd64&distro=debian-12&upstream=gcc-12%4012.2.0-14",
    ),
}
PURLS = {name: f"pkg:deb/debian/{name}@{end}" for name, (_, end) in PACKAGES.items()}


def unpacked(archive):
    """Returns the texts of an archive's files, without the name of its folder."""
    with tarfile.open(archive) as files:
        return {one.name.partition("/")[2]: files.extractfile(one).read().decode() for one in files if one.isfile()}


@functools.cache
def packaged(sources, script, **environment):
    with tempfile.TemporaryDirectory() as folder:
        assert sources.run(script, folder, *IMAGES, **environment) == (0, "")
        return unpacked(next(Path(folder).iterdir()))


def chart(sources, url):
    return packaged(sources, "chart.sh", SOURCE_URL=url, REGISTRY="registry.example.org/Course")


def test_packaged_chart_names_images_and_repository_of_release(sources):
    files = chart(sources, URL)
    images, before = (yaml.safe_load(text)["images"] for text in (files["values.yaml"], (CHART / "values.yaml").read_text()))
    assert images == before | dict(zip(("launcher", "sidecar", "material"), IMAGES))
    assert not [name for name in files if re.match("(ci|rendered)/", name)]
    about, before = (yaml.safe_load(text) for text in (files["Chart.yaml"], (CHART / "Chart.yaml").read_text()))
    listed = yaml.safe_load(about["annotations"].pop("artifacthub.io/images"))
    names = {"launcher": "launcher", "sidecar": "sidecar", "material": "material", "oauth2Proxy": "oauth2-proxy", "front": "nginx"}
    assert {one["name"]: one["image"] for one in listed} == {name: images[value] for value, name in names.items()}
    # The address depends on the repository that makes the release: Chart.yaml in the sources has none.
    del before["annotations"]["artifacthub.io/images"]
    assert not {"home", "sources"} & set(before) and about == before | {"home": URL, "sources": [URL]}


def test_packaged_readme_installs_chart_of_release_and_links_to_repository(sources):
    links, text = re.compile(r"\]\(([^)]*)\)"), chart(sources, URL)["README.md"]
    before = re.findall(r"\]\(\.\./\.\./([^)]*)\)", (CHART / "README.md").read_text())
    assert links.findall(text) == [f"{URL}/blob/v{sources.version}/{target}" for target in before] and "docs/helm-values.md" in before
    (command,) = re.findall(r"^ +helm install .*$", text, re.MULTILINE)
    address = "oci://registry.example.org/course/charts/workshop-launcher"
    assert command.split()[2:6] == ["workshop-launcher", address, "--version", sources.version] and "OWNER" not in text
    # Without the address of the repository, links become text.
    text = chart(sources, "")["README.md"]
    assert links.findall(text) == [] and "- docs/helm-values.md: most values;" in text


@pytest.mark.parametrize(
    ("file", "text", "other"),
    [
        ("Chart.yaml", "type: application\n", ""),
        ("Chart.yaml", "artifacthub.io/images: |", "artifacthub.io/image: |"),
        ("README.md", "oci://ghcr.io/OWNER/REPOSITORY", "oci://ghcr.io/OTHER/REPOSITORY"),
        ("README.md", "](../../CHANGELOG.md)", "](../other.md)"),
        ("values.yaml", '  sidecar: ""', "  sidecar: {}"),
    ],
)
def test_changed_file_of_chart_is_reported(changed, tmp_path, file, text, other):
    path = changed.root / "charts/workshop-launcher" / file
    assert text in path.read_text()
    path.write_text(path.read_text().replace(text, other))
    code, error = changed.run("chart.sh", tmp_path, *IMAGES, SOURCE_URL=URL)
    assert code == 1 and f"{file} has " in error and (file != "values.yaml" or IMAGES[1] in error)


def test_packaged_server_names_images_of_release(sources, tmp_path):
    files, before = packaged(sources, "server.sh"), (ROOT / "deploy/server/versions.env").read_text()
    versions = files["deploy/server/versions.env"]
    assert "LAUNCHER_IMAGE={}\nSIDECAR_IMAGE={}\nMATERIAL_IMAGE={}\n".format(*IMAGES) in versions
    assert versions.splitlines()[5:] == before.splitlines()[5:]


@pytest.mark.parametrize("script", ["chart.sh", "server.sh"])
def test_archives_do_not_depend_on_machine(changed, tmp_path, script):
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
    changed.run(script, tmp_path / "first", *IMAGES, TZ="UTC", LC_ALL="C")
    for path in changed.root.rglob("*"):
        os.utime(path, (1, 1))
    changed.run(script, tmp_path / "second", *IMAGES, umask=0o77, TZ="Asia/Kathmandu", LC_ALL="C.UTF-8")
    first, second = (next((tmp_path / name).iterdir()) for name in ("first", "second"))
    assert first.read_bytes() == second.read_bytes()
    if script == "server.sh":
        with tarfile.open(first) as files:
            assert files.getmember(f"workshop-launcher-server-{changed.version}/deploy/server/setup").mode == 0o755


def test_sources_of_one_version_pass_check(changed):
    changelog = changed.root / "CHANGELOG.md"
    text, version = changelog.read_text(), re.escape(changed.version)
    for date, expected in (("2026-01-31", 0), ("not released", 1)):
        other, count = re.subn(rf"^## {version} - .*$", f"## {changed.version} - {date}", text, flags=re.MULTILINE)
        assert count == 1, "CHANGELOG.md has no section of this version"
        changelog.write_text(other)
        code, error = changed.run("check.sh", f"v{changed.version}")
        assert code == expected and error.count("error:") == expected and ("has no date" in error) == expected
    code, error = changed.run("check.sh", "v99.0.0")
    files = ("Cargo.toml", "Chart.yaml", "versions.env", "openapi.json", "CHANGELOG.md", "docs/install.md", "docs/gitops.md")
    assert code == 1 and not [name for name in files if name not in error]
    assert changed.run("check.sh", changed.version)[1].startswith(f"error: {changed.version} is not a tag")


def test_notes_are_section_of_version(changed):
    section = f"## {changed.version} - 2026-01-31\n\n### Added\n\n- one\n\n"
    (changed.root / "CHANGELOG.md").write_text(f"# Changelog\n\n## Unreleased\n\nlater\n\n{section}## 0.0.9 - 2026-01-01\n\nearlier\n")
    assert changed.run("notes.sh") == (0, "### Added\n\n- one\n")
    (changed.root / "CHANGELOG.md").write_text("# Changelog\n\n## Unreleased\n")
    assert "CHANGELOG.md has no section" in changed.run("notes.sh")[1]


@pytest.mark.parametrize(("image", "limit"), [("launcher", 29_000_000), ("sidecar", 3_000_000), ("material", 6_000_000)])
def test_image_larger_than_limit_is_refused(sources, tmp_path, image, limit):
    assert "usage: size.sh" in sources.run("size.sh", f"{image}s", tmp_path)[1]
    assert "has no files" in sources.run("size.sh", image, tmp_path)[1]
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc/certificates").write_bytes(b"x" * 1000)
    for excess in (0, 1):
        with (tmp_path / "program").open("wb") as program:
            program.truncate(limit - 1000 + excess)
        code, error = sources.run("size.sh", image, tmp_path)
        assert code == excess
    assert f"{limit + 1} bytes" in error and f"{limit + 1 - 1000} program" in error


def test_release_with_too_large_image_fails(changed, tmp_path):
    scripts = changed.root / "packaging/release"
    (scripts / "image.sh").write_text("#!/bin/sh\n")
    for later in ("sbom.sh", "tarball.sh"):
        (scripts / later).write_text("#!/bin/sh\necho later step >&2\n")
    program = "import os, sys\nos.makedirs(sys.argv[3])\nos.truncate(os.open(sys.argv[3] + '/program', os.O_CREAT | os.O_WRONLY), 30_000_000)\n"
    (scripts / "oci.py").write_text(program)
    code, error = changed.run("architecture.sh", tmp_path / "parts")
    assert code == 1 and "the image launcher is too large" in error and "later step" not in error


def sbom(folder, files, *documents):
    """Returns the output of sbom.py, and its errors. The first document is that of the program that the image starts."""
    paths = [folder / f"sbom-{number}.json" for number in range(len(documents))]
    for path, document in zip(paths, documents):
        path.write_text(json.dumps(document))
    command = ["python3", ROOT / "packaging/release/sbom.py", files, *paths]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return json.loads(done.stdout), done.stdout, done.stderr


def test_sbom_has_crates_and_debian_packages_without_local_paths(tmp_path):
    component = {"type": "library", "bom-ref": "registry+x#serde@1", "name": "serde"}
    program = f"path+file://{ROOT}/crates/launcher#1"
    source = {
        "metadata": {"component": {"bom-ref": program, "name": "launcher"}},
        "components": [component],
        "dependencies": [{"ref": program, "dependsOn": [component["bom-ref"]]}],
    }
    files = tmp_path / "files"
    (files / "var/lib/dpkg/status.d").mkdir(parents=True)
    found, _, error = sbom(tmp_path, files, source)
    assert found["components"] == [component] and "lists no C library" in error
    (files / "etc").mkdir()
    (files / "etc/os-release").write_text('ID=debian\nVERSION_ID="12"\n')
    for name, (fields, _) in PACKAGES.items():
        (files / "var/lib/dpkg/status.d" / name).write_text(f"Package: {name}\nArchitecture: amd64\n{fields}Conffiles:\n /etc/x: y\n")
    document, text, _ = sbom(tmp_path, files, source)
    assert [each["bom-ref"] for each in document["components"]] == ["debian-12", *PURLS.values(), component["bom-ref"]]
    system = next(each for each in document["components"] if each["type"] == "operating-system")
    assert (system["name"], system["version"]) == ("debian", "12")
    assert document["dependencies"] == [{"ref": "path+file:///src/crates/launcher#1", "dependsOn": [*PURLS.values(), component["bom-ref"]]}]
    # An administrator, or a scanner, looks for the source package that an advisory names.
    upstream = {each["name"]: each["properties"][0]["value"] for each in document["components"] if "properties" in each}
    assert upstream == {"libc6-dev": "glibc", "libgcc-12-dev": "gcc-12"} and str(ROOT) not in text


def test_sbom_of_two_programs_has_crates_of_both_once(tmp_path):
    def document(name, crates):
        refs = [f"registry+x#{crate}" for crate in crates]
        return {
            "metadata": {"component": {"type": "application", "bom-ref": name, "name": name}},
            "components": [{"type": "library", "bom-ref": ref} for ref in refs],
            "dependencies": [{"ref": name, "dependsOn": refs}, *({"ref": ref} for ref in refs)],
        }

    found = sbom(tmp_path, tmp_path, document("launcher", ["kube", "serde"]), document("launcher-material", ["serde", "zip"]))[0]
    refs = [f"registry+x#{crate}" for crate in ("kube", "serde", "zip")]
    assert found["metadata"]["component"]["name"] == "launcher"
    assert [each["bom-ref"] for each in found["components"]] == ["launcher-material", *refs]
    assert {each["ref"]: each.get("dependsOn", []) for each in found["dependencies"]} == {
        "launcher": ["launcher-material", *refs[:2]], "launcher-material": refs[1:], **{ref: [] for ref in refs}
    }


# Programs in place of the compiler and of dpkg. cargo makes a program, because build.sh strips its symbols.
TOOLS = {
    "rustc": "echo host: test-host",
    "cargo": """while [ "$1" != --package ]; do shift; done
mkdir -p "$CARGO_TARGET_DIR/test-host/release"
cp "$(realpath /bin/true)" "$CARGO_TARGET_DIR/test-host/release/$2\"""",
    "cc": "echo $LIBRARIES/gcc/../${1#-print-file-name=}",
    "dpkg-query": """case "$*" in
  "--search $LIBRARIES/libc.a") echo "libc6-dev:amd64: $LIBRARIES/libc.a" ;;
  "--search $LIBRARIES/libgcc_eh.a") echo "libgcc-12-dev:amd64: $LIBRARIES/libgcc_eh.a" ;;
  "--status "*) printf 'Package: %s\\nStatus: install ok installed\\nArchitecture: amd64\\n' "$2"; cat "$LIBRARIES/$2" ;;
  *) exit 1 ;;
esac""",
}


@pytest.fixture
def tools(programs, tmp_path):
    """The environment of images/build.sh with these programs."""
    libraries = tmp_path / "lib"
    (libraries / "gcc").mkdir(parents=True)
    variables = {"LIBRARIES": str(libraries), "CARGO_TARGET_DIR": str(tmp_path / "target")}
    for name, script in TOOLS.items():
        variables |= programs(name, script)
    for name, (fields, _) in PACKAGES.items():
        (libraries / name).write_text(fields)
    return os.environ | variables


@pytest.mark.parametrize("image", ["launcher", "sidecar", "material"])
def test_image_and_sbom_name_packages_of_libraries_in_program(sources, tools, tmp_path, image):
    subprocess.run([sources.root / "images/build.sh", image], env=tools, check=True)
    context, files = tmp_path / "target/images" / image, tmp_path / "files"
    # Copies the files of an image, as its Dockerfile says.
    for source, target in re.findall(r"^COPY (\S+) /(\S*)$", (context / "Dockerfile").read_text(), re.MULTILINE):
        (files / target).parent.mkdir(parents=True, exist_ok=True)
        copy = functools.partial(shutil.copytree, dirs_exist_ok=True) if (context / source).is_dir() else shutil.copy
        copy(context / source, files / target)
    programs = {"launcher": {"launcher", "launcher-material"}, "sidecar": {"launcher-sidecar"}, "material": {"launcher-material"}}
    assert {path.name for path in files.rglob("launcher*") if path.is_file()} == programs[image]
    expected = {name: purl for name, purl in PURLS.items() if name != "ca-certificates" or image == "launcher"}
    assert {path.name for path in (files / "var/lib/dpkg/status.d").iterdir()} == set(expected)
    release = Path("/etc/os-release").read_text()
    assert (files / "etc/os-release").read_text() == release
    assert (files / "etc/debian_version").exists() == ("ID=debian" in release.splitlines())
    components = sbom(tmp_path, files, {"metadata": {"component": {"bom-ref": image}}})[0]["components"]
    system = next(each["bom-ref"] for each in components if each["type"] == "operating-system")
    found = {each["name"]: each["purl"] for each in components if "purl" in each}
    assert found == {name: re.sub("debian(?=/)", system.split("-")[0], purl).replace("debian-12", system) for name, purl in expected.items()}


def test_build_without_static_c_library_says_what_to_install(sources, tools, programs):
    programs("cc", "echo libc.a")
    done = subprocess.run([sources.root / "images/build.sh", "sidecar"], env=tools, capture_output=True, text=True)
    assert done.returncode == 1 and "libc6-dev (Debian, Ubuntu), glibc-static (Fedora)" in done.stderr


def test_image_without_dpkg_describes_no_packages_and_reports_it(sources, tmp_path):
    (tmp_path / "bin").mkdir()
    for name in ("bash", "dirname", "mkdir"):
        (tmp_path / "bin" / name).symlink_to(shutil.which(name))
    command = [sources.root / "images/packages.sh", tmp_path / "rootfs", "ca-certificates", "/usr/lib/libc.a"]
    done = subprocess.run(command, env={"PATH": str(tmp_path / "bin")}, capture_output=True, text=True, check=True)
    assert done.stderr.startswith("note: this system has no dpkg.") and "ca-certificates /usr/lib/libc.a" in done.stderr
    # The Dockerfile copies this folder.
    assert list((tmp_path / "rootfs").iterdir()) == []


def test_comparison_names_files_that_differ_and_missing_builds(sources, tmp_path):
    first, second = tmp_path / "first", tmp_path / "second"
    for folder in (first, second):
        (folder / "images").mkdir(parents=True)
        assert sources.run("compare.sh", folder, folder) == (1, f"error: {folder} has no files\n")
        (folder / "images/launcher.oci.tar").write_text("layers")
        (folder / "SHA256SUMS").write_text("sums")
    assert sources.run("compare.sh", first, tmp_path / "none") == (1, f"error: {tmp_path}/none does not exist\n")
    assert sources.run("compare.sh", first, second) == (0, "")
    (second / "images/launcher.oci.tar").write_text("Layers")
    (second / "more").write_text("")
    code, error = sources.run("compare.sh", first, second)
    assert code == 1 and error.splitlines()[-1].startswith("error: the two builds differ.")
    assert "images/launcher.oci.tar differ\n" in error and "more\n" in error and "SHA256SUMS" not in error
