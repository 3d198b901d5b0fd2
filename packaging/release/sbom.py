"""sbom.py SBOM FILESYSTEM: prints the SBOM of a crate as that of an image: with the Debian packages in the image's
unpacked files, and without the paths of this machine."""

import json
import pathlib
import sys
from urllib.parse import quote


def fields(text):
    """Returns the fields of a Debian control file that have one line."""
    lines = (line.split(": ", 1) for line in text.splitlines() if ": " in line and not line.startswith(" "))
    return {name: value for name, value in lines}


def debian_packages(root):
    """Returns the components of the packages that packages.sh described."""
    release = root / "etc/os-release"
    if not release.exists():
        return []
    values = dict(line.split("=", 1) for line in release.read_text().splitlines() if "=" in line)
    system, version = values["ID"].strip('"'), values.get("VERSION_ID", "").strip('"')
    packages = []
    for status in sorted((root / "var/lib/dpkg/status.d").iterdir()):
        package = fields(status.read_text())
        name, of, architecture = package["Package"], package["Version"], package["Architecture"]
        purl = f"pkg:deb/{system}/{name}@{quote(of, safe='')}?arch={architecture}&distro={system}-{version}"
        packages.append({"type": "library", "bom-ref": purl, "name": name, "version": of, "purl": purl})
    return packages


def main(sbom, filesystem):
    here = str(pathlib.Path.cwd())
    document = json.loads(pathlib.Path(sbom).read_text().replace(here, "/src"))
    packages = debian_packages(pathlib.Path(filesystem))
    document["components"] = sorted(document.get("components", []) + packages, key=lambda each: each["bom-ref"])
    document["dependencies"] = sorted(document.get("dependencies", []), key=lambda each: each["ref"])
    program = document["metadata"]["component"]["bom-ref"]
    for each in document["dependencies"]:
        if each["ref"] == program:
            each["dependsOn"] = sorted(each.get("dependsOn", []) + [package["bom-ref"] for package in packages])
    print(json.dumps(document, indent=2, sort_keys=True))


main(*sys.argv[1:])
