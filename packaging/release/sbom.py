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
    """Returns the components of the packages that packages.sh described, and of their system.

    Advisories of Debian name source packages, such as glibc. Scanners take this name from the qualifier `upstream` (Grype)
    or from the property (Trivy). Trivy also needs the component of the system: without it, it ignores the packages.
    """
    release = root / "etc/os-release"
    if not release.exists():
        print("note: the image describes no packages, so its SBOM lists no C library", file=sys.stderr)
        return []
    values = dict(line.split("=", 1) for line in release.read_text().splitlines() if "=" in line)
    system, version = values["ID"].strip('"'), values.get("VERSION_ID", "").strip('"')
    components = [{"type": "operating-system", "bom-ref": f"{system}-{version}", "name": system, "version": version}]
    for status in sorted((root / "var/lib/dpkg/status.d").iterdir()):
        package = fields(status.read_text())
        name, of, architecture = package["Package"], package["Version"], package["Architecture"]
        purl = f"pkg:deb/{system}/{name}@{quote(of, safe='')}?arch={architecture}&distro={system}-{version}"
        component = {"type": "library", "name": name, "version": of}
        # For example `glibc`, or `gcc-defaults (1.203)` if the version differs. The field is absent if both are the same.
        source, _, source_version = package.get("Source", "").partition(" ")
        if source:
            purl += "&upstream=" + quote(source + source_version.replace("(", "@").strip(")"), safe="")
            component["properties"] = [{"name": "aquasecurity:trivy:SrcName", "value": source}]
        components.append(component | {"bom-ref": purl, "purl": purl})
    return components


def main(sbom, filesystem):
    here = str(pathlib.Path.cwd())
    document = json.loads(pathlib.Path(sbom).read_text().replace(here, "/src"))
    packages = debian_packages(pathlib.Path(filesystem))
    document["components"] = sorted(document.get("components", []) + packages, key=lambda each: each["bom-ref"])
    document["dependencies"] = sorted(document.get("dependencies", []), key=lambda each: each["ref"])
    program = document["metadata"]["component"]["bom-ref"]
    for each in document["dependencies"]:
        if each["ref"] == program:
            each["dependsOn"] = sorted(each.get("dependsOn", []) + [one["bom-ref"] for one in packages if one["type"] == "library"])
    print(json.dumps(document, indent=2, sort_keys=True))


main(*sys.argv[1:])
