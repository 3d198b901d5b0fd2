#!/usr/bin/env python3
"""Composes the images of the container tests: `compose.py OUT JUPYTER SIDECAR BECOME_ROOT BUSYBOX`.

Writes OUT/all.tar with all images, and OUT/small.tar with those for a small disk, as `docker save` writes archives.
JUPYTER is the archive of the JupyterLab image, which is the base of another one. The other arguments are programs.
Images share layers, so a layer is in an archive only once.
"""

import hashlib
import io
import json
import pathlib
import re
import subprocess
import sys
import tarfile

HERE = pathlib.Path(__file__).resolve().parent
PREFIX = "localhost/workshop-launcher"
# struct vfs_cap_data, version 2: cap_net_raw (13) permitted and effective.
NET_RAW = bytes.fromhex("0100000200200000000000000000000000000000")
XATTR = "SCHILY.xattr.security.capability"


def layer(files, folders=None):
    """Returns a layer with these files: {path: (content, mode[, extended attributes])}, and folders: {path: mode}."""
    made = io.BytesIO()
    parents = {str(each): 0o755 for path in files for each in pathlib.PurePosixPath(path).parents if each.name}
    with tarfile.open(fileobj=made, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for folder, mode in sorted((parents | (folders or {})).items()):
            entry = tarfile.TarInfo(folder)
            entry.type, entry.mode = tarfile.DIRTYPE, mode
            tar.addfile(entry)
        for path, (content, mode, *attributes) in sorted(files.items()):
            entry = tarfile.TarInfo(path)
            entry.mode, entry.size = mode, len(content)
            entry.pax_headers = dict(*attributes)
            tar.addfile(entry, io.BytesIO(content))
    return made.getvalue()


class Archive:
    """The archive of all images."""

    def __init__(self, path):
        self.tar = tarfile.open(path, "w", format=tarfile.PAX_FORMAT)
        self.names, self.manifest = set(), []

    def add(self, name, file, size):
        if name not in self.names:
            self.names.add(name)
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = size, 0o644
            self.tar.addfile(entry, file)
        return name

    def image(self, name, config, layers):
        """Adds an image. `layers` are names of the archive, each the SHA-256 of the layer and `.tar`."""
        identifiers = [f"sha256:{each.removesuffix('.tar')}" for each in layers]
        text = json.dumps({
            "architecture": "amd64", "os": "linux", "created": "1970-01-01T00:00:00Z", "config": config,
            "rootfs": {"type": "layers", "diff_ids": identifiers},
            "history": [{"created": "1970-01-01T00:00:00Z", "created_by": "compose.py"} for _ in layers],
        }).encode()
        stored = self.add(f"{hashlib.sha256(text).hexdigest()}.json", io.BytesIO(text), len(text))
        self.manifest.append({"Config": stored, "RepoTags": [f"{PREFIX}/{name}:test"], "Layers": layers})

    def layer(self, content):
        return self.add(f"{hashlib.sha256(content).hexdigest()}.tar", io.BytesIO(content), len(content))

    def copied_layers(self, source, image):
        """Copies the layers of this image from another archive. Returns their names."""
        copied = []
        for name in image["Layers"]:
            with source.extractfile(name) as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
                file.seek(0)
                copied.append(self.add(f"{digest}.tar", file, source.getmember(name).size))
        return copied

    def close(self):
        text = json.dumps(self.manifest).encode()
        self.add("manifest.json", io.BytesIO(text), len(text))
        self.tar.close()


def libraries(program):
    """Returns the shared libraries of a program, with their loader, as files of a layer."""
    listed = subprocess.run(["ldd", program], capture_output=True, text=True).stdout
    return {each[1:]: (pathlib.Path(each).read_bytes(), 0o755) for each in re.findall(r"/\S+", listed)}


def add_small(archive, sidecar, material, busybox):
    """Adds the sidecar, the program that places course material, and an app that starts at once."""
    sidecar = layer({"launcher-sidecar": (pathlib.Path(sidecar).read_bytes(), 0o755)})
    archive.image("sidecar", {"Entrypoint": ["/launcher-sidecar"], "User": "65532:65532"}, [archive.layer(sidecar)])
    material = layer({"launcher-material": (pathlib.Path(material).read_bytes(), 0o755)})
    archive.image("material", {"Entrypoint": ["/launcher-material"], "User": "65532:65532"}, [archive.layer(material)])
    program = (pathlib.Path(busybox).read_bytes(), 0o755)
    quick = layer({"bin/busybox": program, "www/index.html": (b"quick\n", 0o644)} | libraries(busybox), {"tmp": 0o1777})
    serve = ["/bin/busybox", "sh", "-c", "trap exit TERM; /bin/busybox httpd -f -p 127.0.0.1:$PORT -h /www & wait"]
    config = {"Cmd": serve, "User": "65532:65532", "Env": ["PATH=/bin"]}
    archive.image("quick", config, [archive.layer(quick)])


def add_large(archive, jupyter, become_root):
    """Adds JupyterLab, and an app that runs commands, with the probes of attackers."""
    with tarfile.open(jupyter) as source:
        image = json.load(source.extractfile("manifest.json"))[0]
        config = json.load(source.extractfile(image["Config"]))["config"]
        base = archive.copied_layers(source, image)
    archive.image("jupyter", config, base)
    files = {f"opt/workshop/attack/{path.name}": (path.read_bytes(), 0o644) for path in HERE.glob("attack/*.py")}
    program = pathlib.Path(become_root).read_bytes()
    files["opt/workshop/app.py"] = ((HERE / "app.py").read_bytes(), 0o644)
    files["usr/local/bin/become-root"] = (program, 0o4755)
    files["usr/local/bin/open-raw"] = (program, 0o755, {XATTR: NET_RAW.decode("latin-1")})
    shell = config | {"Cmd": ["python3", "/opt/workshop/app.py"]}
    shell["Env"] = [*config["Env"], "PYTHONPATH=/opt/workshop", "PYTHONDONTWRITEBYTECODE=1"]
    archive.image("shell", shell, [*base, archive.layer(layer(files))])


def main():
    out, jupyter, sidecar, material, become_root, busybox = sys.argv[1:]
    for name in ("small", "all"):
        archive = Archive(pathlib.Path(out) / f"{name}.tar")
        add_small(archive, sidecar, material, busybox)
        if name == "all":
            add_large(archive, jupyter, become_root)
        archive.close()


if __name__ == "__main__":
    main()
