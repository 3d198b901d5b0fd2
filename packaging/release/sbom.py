"""sbom.py FILESYSTEM SBOM...: prints the SBOMs of the crates of an image's programs as that of the image: with the Debian
packages in the image's unpacked files, and without the paths of this machine. The first program starts the others."""

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


def main(filesystem, *sboms):
    here = str(pathlib.Path.cwd())
    document, *others = (json.loads(pathlib.Path(sbom).read_text().replace(here, "/src")) for sbom in sboms)
    packages = debian_packages(pathlib.Path(filesystem))
    programs = [other["metadata"]["component"] for other in others]
    lists = [one.get("components", []) for one in (document, *others)]
    components = {each["bom-ref"]: each for one in (*lists, programs, packages) for each in one}
    dependencies = {each["ref"]: each for one in (*others, document) for each in one.get("dependencies", [])}
    document["components"] = sorted(components.values(), key=lambda each: each["bom-ref"])
    document["dependencies"] = sorted(dependencies.values(), key=lambda each: each["ref"])
    program = dependencies.get(document["metadata"]["component"]["bom-ref"])
    if program:
        parts = [one["bom-ref"] for one in (*programs, *packages) if one["type"] != "operating-system"]
        program["dependsOn"] = sorted(program.get("dependsOn", []) + parts)
    print(json.dumps(document, indent=2, sort_keys=True))


main(*sys.argv[1:])
