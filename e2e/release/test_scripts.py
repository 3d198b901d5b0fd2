"""Tests the scripts of a release that need no compiler, on a copy of the sources without Git."""

import json
import os
import re
import shutil
import subprocess
import tarfile
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
VERSION = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]
LAUNCHER = f"registry.example.org/launcher:{VERSION}@sha256:{'a' * 64}"
SIDECAR = f"registry.example.org/sidecar:{VERSION}@sha256:{'b' * 64}"
MATERIAL = f"registry.example.org/material:{VERSION}@sha256:{'c' * 64}"
URL = "https://github.com/example/launcher"
COMMIT = {"COMMIT": "0123456789abcdef0123456789abcdef01234567", "SOURCE_DATE_EPOCH": "1700000000"}
SOURCES = ("charts", "deploy/server", "images", "packaging", "Cargo.toml", "CHANGELOG.md", "LICENSE-APACHE", "LICENSE-MIT", "docs")


# Debian packages with fields of their status, and the identifiers that the SBOM has for them.
PACKAGES = {
    "ca-certificates": "Version: 20230311+deb12u1\n",
    "libc6-dev": "Source: glibc\nVersion: 2.36-9+deb12u14\n",
    "libgcc-12-dev": "Source: gcc-12 (12.2.0-14)\nVersion: 12.2.0-14+b1\n",
}
PURLS = {
    "ca-certificates": "pkg:deb/debian/ca-certificates@20230311%2Bdeb12u1?arch=amd64&distro=debian-12",
    "libc6-dev": "pkg:deb/debian/libc6-dev@2.36-9%2Bdeb12u14?arch=amd64&distro=debian-12&upstream=glibc",
    "libgcc-12-dev": "pkg:deb/debian/libgcc-12-dev@12.2.0-14%2Bb1?arch=amd64&distro=debian-12&upstream=gcc-12%4012.2.0-14",
}


@pytest.fixture
def sources(tmp_path):
    root = tmp_path / "sources"
    for name in SOURCES:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, root / name)
    return root


def run(sources, name, *arguments, umask=0o22, **environment):
    """Runs a script. Returns its output, and its errors if it fails."""
    done = subprocess.run(
        [sources / "packaging/release" / name, *map(str, arguments)], cwd="/", umask=umask,
        env=os.environ | COMMIT | environment, capture_output=True, text=True,
    )
    return done.returncode, done.stdout if done.returncode == 0 else done.stderr


def sbom(source, files):
    """Returns the output of sbom.py."""
    command = ["python3", ROOT / "packaging/release/sbom.py", source, files]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout


def member(archive, path):
    with tarfile.open(archive) as files:
        return files.extractfile(path).read().decode()


def set_changelog_heading(sources, heading):
    changelog = sources / "CHANGELOG.md"
    text, count = re.subn(rf"^## {re.escape(VERSION)} - .*$", heading, changelog.read_text(), flags=re.MULTILINE)
    assert count == 1, "CHANGELOG.md has no section of this version"
    changelog.write_text(text)


def test_packaged_chart_names_images_of_release(sources, tmp_path):
    assert run(sources, "chart.sh", tmp_path, LAUNCHER, SIDECAR, MATERIAL) == (0, "")
    archive = tmp_path / f"workshop-launcher-{VERSION}.tgz"
    images = yaml.safe_load(member(archive, "workshop-launcher/values.yaml"))["images"]
    assert (images["launcher"], images["sidecar"], images["material"]) == (LAUNCHER, SIDECAR, MATERIAL)
    before = yaml.safe_load((ROOT / "charts/workshop-launcher/values.yaml").read_text())["images"]
    assert {**images, "launcher": "", "sidecar": "", "material": ""} == before
    with tarfile.open(archive) as files:
        names = files.getnames()
    assert "workshop-launcher/Chart.yaml" in names
    assert not [name for name in names if re.search(r"/(ci|rendered)(/|$)", name)]


def test_packaged_chart_lists_all_images(sources, tmp_path):
    assert run(sources, "chart.sh", tmp_path, LAUNCHER, SIDECAR, MATERIAL) == (0, "")
    archive = tmp_path / f"workshop-launcher-{VERSION}.tgz"
    images = yaml.safe_load(member(archive, "workshop-launcher/values.yaml"))["images"]
    annotations = yaml.safe_load(member(archive, "workshop-launcher/Chart.yaml"))["annotations"]
    listed = {one["name"]: one["image"] for one in yaml.safe_load(annotations["artifacthub.io/images"])}
    names = {"launcher": "launcher", "sidecar": "sidecar", "material": "material", "oauth2Proxy": "oauth2-proxy", "front": "nginx"}
    assert listed == {name: images[value] for value, name in names.items()}


def test_packaged_chart_names_repository_as_home_and_source(sources, tmp_path):
    assert run(sources, "chart.sh", tmp_path, LAUNCHER, SIDECAR, MATERIAL, SOURCE_URL=URL) == (0, "")
    about = yaml.safe_load(member(tmp_path / f"workshop-launcher-{VERSION}.tgz", "workshop-launcher/Chart.yaml"))
    # The address depends on the repository that makes the release: Chart.yaml in the sources has none.
    before = yaml.safe_load((ROOT / "charts/workshop-launcher/Chart.yaml").read_text())
    assert not {"home", "sources"} & set(before)
    for one in (about, before):
        del one["annotations"]["artifacthub.io/images"]
    assert about == before | {"home": URL, "sources": [URL]}


def packaged_readme(sources, folder, **environment):
    """Packs the chart. Returns its README.md, and the link targets in it."""
    assert run(sources, "chart.sh", folder, LAUNCHER, SIDECAR, MATERIAL, **environment) == (0, "")
    text = member(folder / f"workshop-launcher-{VERSION}.tgz", "workshop-launcher/README.md")
    return text, re.findall(r"\]\(([^)]*)\)", text)


def test_links_of_packaged_readme_lead_to_repository(sources, tmp_path):
    _, targets = packaged_readme(sources, tmp_path, SOURCE_URL=URL)
    tag = f"{URL}/blob/v{VERSION}/"
    before = re.findall(r"\]\(\.\./\.\./([^)]*)\)", (ROOT / "charts/workshop-launcher/README.md").read_text())
    assert targets == [tag + target for target in before]
    assert f"{tag}docs/helm-values.md" in targets


def test_links_of_packaged_readme_become_text_without_address_of_repository(sources, tmp_path):
    text, targets = packaged_readme(sources, tmp_path, SOURCE_URL="")
    assert targets == []
    assert "- docs/helm-values.md: most values;" in text


def test_packaged_readme_installs_chart_of_release(sources, tmp_path):
    text, _ = packaged_readme(sources, tmp_path, REGISTRY="registry.example.org/Course")
    (command,) = re.findall(r"^ +helm install .*$", text, re.MULTILINE)
    address = "oci://registry.example.org/course/charts/workshop-launcher"
    assert command.split()[2:6] == ["workshop-launcher", address, "--version", VERSION]
    assert "OWNER" not in text


@pytest.mark.parametrize(
    ("file", "text", "other"),
    [
        ("Chart.yaml", "type: application\n", ""),
        ("Chart.yaml", "artifacthub.io/images: |", "artifacthub.io/image: |"),
        ("README.md", "oci://ghcr.io/OWNER/REPOSITORY", "oci://ghcr.io/OTHER/REPOSITORY"),
        ("README.md", "](../../CHANGELOG.md)", "](../other.md)"),
    ],
)
def test_changed_file_of_chart_is_reported(sources, tmp_path, file, text, other):
    path = sources / "charts/workshop-launcher" / file
    assert text in path.read_text()
    path.write_text(path.read_text().replace(text, other))
    code, error = run(sources, "chart.sh", tmp_path, LAUNCHER, SIDECAR, MATERIAL, SOURCE_URL=URL)
    assert code == 1 and f"{file} has " in error


def test_packaged_server_names_images_of_release(sources, tmp_path):
    assert run(sources, "server.sh", tmp_path, LAUNCHER, SIDECAR, MATERIAL) == (0, "")
    name = f"workshop-launcher-server-{VERSION}"
    versions = member(tmp_path / f"{name}.tar.gz", f"{name}/deploy/server/versions.env")
    before = (ROOT / "deploy/server/versions.env").read_text()
    assert f"LAUNCHER_IMAGE={LAUNCHER}\nSIDECAR_IMAGE={SIDECAR}\nMATERIAL_IMAGE={MATERIAL}\n" in versions
    assert versions.splitlines()[5:] == before.splitlines()[5:]
    with tarfile.open(tmp_path / f"{name}.tar.gz") as files:
        assert files.getmember(f"{name}/deploy/server/setup").mode == 0o755


@pytest.mark.parametrize("script", ["chart.sh", "server.sh"])
def test_archives_do_not_depend_on_machine(sources, tmp_path, script):
    first, second = tmp_path / "first", tmp_path / "second"
    for folder in (first, second):
        folder.mkdir()
    run(sources, script, first, LAUNCHER, SIDECAR, MATERIAL, TZ="UTC", LC_ALL="C")
    for path in sources.rglob("*"):
        os.utime(path, (1, 1))
    run(sources, script, second, LAUNCHER, SIDECAR, MATERIAL, umask=0o77, TZ="Asia/Kathmandu", LC_ALL="C.UTF-8")
    archives = [next(folder.iterdir()).read_bytes() for folder in (first, second)]
    assert archives[0] == archives[1]


def test_changed_values_file_is_reported(sources, tmp_path):
    values = sources / "charts/workshop-launcher/values.yaml"
    values.write_text(values.read_text().replace('  sidecar: ""', "  sidecar: {}"))
    code, error = run(sources, "chart.sh", tmp_path, LAUNCHER, SIDECAR, MATERIAL)
    assert code == 1 and "values.yaml has changed" in error and SIDECAR in error


def test_sources_of_one_version_pass_check(sources):
    set_changelog_heading(sources, f"## {VERSION} - 2026-01-31")
    assert run(sources, "check.sh", f"v{VERSION}") == (0, "")


def test_check_names_all_files_of_other_version(sources):
    code, error = run(sources, "check.sh", "v99.0.0")
    assert code == 1
    for name in ("Cargo.toml", "Chart.yaml", "versions.env", "openapi.json", "CHANGELOG.md", "docs/install.md", "docs/gitops.md"):
        assert name in error


def test_check_refuses_changelog_without_date_and_invalid_tag(sources):
    set_changelog_heading(sources, f"## {VERSION} - not released")
    code, error = run(sources, "check.sh", f"v{VERSION}")
    assert code == 1 and error.count("error:") == 1 and "has no date" in error
    assert run(sources, "check.sh", VERSION)[1].startswith(f"error: {VERSION} is not a tag")


def test_notes_are_section_of_version(sources):
    (sources / "CHANGELOG.md").write_text(
        f"# Changelog\n\n## Unreleased\n\nlater\n\n## {VERSION} - 2026-01-31\n\n### Added\n\n- one\n\n## 0.0.9 - 2026-01-01\n\nearlier\n"
    )
    assert run(sources, "notes.sh") == (0, "### Added\n\n- one\n")
    (sources / "CHANGELOG.md").write_text("# Changelog\n\n## Unreleased\n")
    assert "CHANGELOG.md has no section" in run(sources, "notes.sh")[1]


@pytest.mark.parametrize(("image", "limit"), [("launcher", 25_000_000), ("sidecar", 3_000_000), ("material", 6_000_000)])
def test_image_larger_than_limit_is_refused(sources, tmp_path, image, limit):
    files = tmp_path / "files"
    (files / "etc").mkdir(parents=True)
    (files / "etc/certificates").write_bytes(b"x" * 1000)
    for excess, expected in ((0, 0), (1, 1)):
        with (files / "program").open("wb") as program:
            program.truncate(limit - 1000 + excess)
        code, error = run(sources, "size.sh", image, files)
        assert code == expected
    assert f"{limit + 1} bytes" in error and f"{limit + 1 - 1000} program" in error


def test_size_of_unknown_image_and_of_no_files_is_refused(sources, tmp_path):
    (tmp_path / "files").mkdir()
    assert "usage: size.sh" in run(sources, "size.sh", "launchers", tmp_path)[1]
    assert "has no files" in run(sources, "size.sh", "launcher", tmp_path / "files")[1]


def test_release_with_too_large_image_fails(sources, tmp_path):
    scripts = sources / "packaging/release"
    (scripts / "image.sh").write_text("#!/bin/sh\n")
    for later in ("sbom.sh", "tarball.sh"):
        (scripts / later).write_text("#!/bin/sh\necho later step >&2\n")
    (scripts / "oci.py").write_text(
        "import os, sys\nos.makedirs(sys.argv[3])\nwith open(sys.argv[3] + '/program', 'wb') as program:\n    program.truncate(26_000_000)\n"
    )
    code, error = run(sources, "architecture.sh", tmp_path / "parts")
    assert code == 1 and "the image launcher is too large" in error and "later step" not in error


def test_sbom_has_crates_and_debian_packages_without_local_paths(tmp_path):
    source = tmp_path / "launcher.json"
    component = {"type": "library", "bom-ref": "registry+x#serde@1", "name": "serde"}
    program = f"path+file://{ROOT}/crates/launcher#{VERSION}"
    source.write_text(json.dumps({
        "metadata": {"component": {"bom-ref": program, "name": "launcher"}},
        "components": [component],
        "dependencies": [{"ref": program, "dependsOn": [component["bom-ref"]]}],
    }))
    files = tmp_path / "files"
    (files / "var/lib/dpkg/status.d").mkdir(parents=True)
    (files / "etc").mkdir()
    (files / "etc/os-release").write_text('ID=debian\nVERSION_ID="12"\n')
    for name, fields in PACKAGES.items():
        (files / "var/lib/dpkg/status.d" / name).write_text(f"Package: {name}\nArchitecture: amd64\n{fields}Conffiles:\n /etc/x: y\n")
    text = sbom(source, files)
    document = json.loads(text)
    assert [each["bom-ref"] for each in document["components"]] == ["debian-12", *PURLS.values(), component["bom-ref"]]
    system = next(each for each in document["components"] if each["type"] == "operating-system")
    assert (system["name"], system["version"]) == ("debian", "12")
    assert document["dependencies"] == [{"ref": f"path+file:///src/crates/launcher#{VERSION}", "dependsOn": [*PURLS.values(), component["bom-ref"]]}]
    # An administrator, or a scanner, looks for the source package that an advisory names.
    sources = {each["name"]: each["properties"][0]["value"] for each in document["components"] if "properties" in each}
    assert sources == {"libc6-dev": "glibc", "libgcc-12-dev": "gcc-12"}
    assert str(ROOT) not in text


def test_sbom_of_image_without_packages_is_reported(tmp_path):
    (tmp_path / "sbom.json").write_text(json.dumps({"metadata": {"component": {"bom-ref": "launcher"}}}))
    (tmp_path / "files").mkdir()
    command = ["python3", ROOT / "packaging/release/sbom.py", tmp_path / "sbom.json", tmp_path / "files"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["components"] == [] and "lists no C library" in done.stderr


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
  "--status "*) printf 'Package: %s\\nStatus: install ok installed\\nArchitecture: amd64\\n' "$2"; cat "$FIELDS/$2" ;;
  *) exit 1 ;;
esac""",
}


@pytest.fixture
def tools(tmp_path):
    """The environment of images/build.sh with these programs."""
    folder, fields, libraries = tmp_path / "tools", tmp_path / "fields", tmp_path / "lib"
    for path in (folder, fields, libraries / "gcc"):
        path.mkdir(parents=True)
    for name, script in TOOLS.items():
        (folder / name).write_text(f"#!/bin/sh\n{script}\n")
        (folder / name).chmod(0o755)
    for name, text in PACKAGES.items():
        (fields / name).write_text(text)
    return os.environ | {
        "PATH": f"{folder}:{os.environ['PATH']}", "FIELDS": str(fields), "LIBRARIES": str(libraries), "CARGO_TARGET_DIR": str(tmp_path / "target"),
    }


def unpacked(context, folder):
    """Copies the files of an image, as its Dockerfile says."""
    for source, target in re.findall(r"^COPY (\S+) /(\S*)$", (context / "Dockerfile").read_text(), re.MULTILINE):
        if (context / source).is_dir():
            shutil.copytree(context / source, folder / target, dirs_exist_ok=True)
        else:
            (folder / target).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(context / source, folder / target)
    return folder


@pytest.mark.parametrize("image", ["launcher", "sidecar", "material"])
def test_image_and_sbom_name_packages_of_libraries_in_program(sources, tools, tmp_path, image):
    subprocess.run([sources / "images/build.sh", image], env=tools, check=True)
    files = unpacked(tmp_path / "target/images" / image, tmp_path / "files")
    expected = {name: purl for name, purl in PURLS.items() if name != "ca-certificates" or image == "launcher"}
    assert {path.name for path in (files / "var/lib/dpkg/status.d").iterdir()} == set(expected)
    release = Path("/etc/os-release").read_text()
    assert (files / "etc/os-release").read_text() == release
    assert (files / "etc/debian_version").exists() == ("ID=debian" in release.splitlines())
    (tmp_path / "sbom.json").write_text(json.dumps({"metadata": {"component": {"bom-ref": image}}}))
    components = json.loads(sbom(tmp_path / "sbom.json", files))["components"]
    system = next(each["bom-ref"] for each in components if each["type"] == "operating-system")
    found = {each["name"]: each["purl"] for each in components if "purl" in each}
    assert found == {name: re.sub("debian(?=/)", system.split("-")[0], purl).replace("debian-12", system) for name, purl in expected.items()}


def test_build_without_static_c_library_says_what_to_install(sources, tools):
    Path(tools["PATH"].split(":")[0], "cc").write_text("#!/bin/sh\necho libc.a\n")
    done = subprocess.run([sources / "images/build.sh", "sidecar"], env=tools, capture_output=True, text=True)
    assert done.returncode == 1 and "libc6-dev (Debian, Ubuntu), glibc-static (Fedora)" in done.stderr


def test_image_without_dpkg_describes_no_packages_and_reports_it(sources, tmp_path):
    (tmp_path / "bin").mkdir()
    for name in ("bash", "dirname", "mkdir"):
        (tmp_path / "bin" / name).symlink_to(shutil.which(name))
    command = [sources / "images/packages.sh", tmp_path / "rootfs", "ca-certificates", "/usr/lib/libc.a"]
    done = subprocess.run(command, env={"PATH": str(tmp_path / "bin")}, capture_output=True, text=True, check=True)
    assert done.stderr.startswith("note: this system has no dpkg.") and "ca-certificates /usr/lib/libc.a" in done.stderr
    # The Dockerfile copies this folder.
    assert list((tmp_path / "rootfs").iterdir()) == []


def two_builds(tmp_path):
    folders = [tmp_path / name for name in ("first", "second")]
    for folder in folders:
        (folder / "images").mkdir(parents=True)
        (folder / "images/launcher.oci.tar").write_text("layers")
        (folder / "SHA256SUMS").write_text("sums")
    return folders


def test_equal_builds_pass_comparison(sources, tmp_path):
    assert run(sources, "compare.sh", *two_builds(tmp_path)) == (0, "")


def test_comparison_names_files_that_differ(sources, tmp_path):
    first, second = two_builds(tmp_path)
    (second / "images/launcher.oci.tar").write_text("Layers")
    (second / "more").write_text("")
    code, error = run(sources, "compare.sh", first, second)
    assert code == 1 and error.splitlines()[-1].startswith("error: the two builds differ.")
    assert "images/launcher.oci.tar differ\n" in error and "more\n" in error and "SHA256SUMS" not in error


def test_comparison_with_missing_or_empty_build_fails(sources, tmp_path):
    first, _ = two_builds(tmp_path)
    (tmp_path / "empty").mkdir()
    assert run(sources, "compare.sh", first, tmp_path / "none") == (1, f"error: {tmp_path}/none does not exist\n")
    assert run(sources, "compare.sh", tmp_path / "empty", tmp_path / "empty") == (1, f"error: {tmp_path}/empty has no files\n")


def test_workflow_compares_builds_of_every_runner():
    jobs = yaml.safe_load((ROOT / ".github/workflows/release.yml").read_text())["jobs"]
    compared = [line for step in jobs["publish"]["steps"] for line in step.get("run", "").splitlines() if "compare.sh" in line]
    matrix = jobs["build"]["strategy"]["matrix"]
    assert matrix["copy"] == ["first", "second"]
    assert compared == [f"packaging/release/compare.sh parts/first-{runner} parts/second-{runner}" for runner in matrix["runner"]]
