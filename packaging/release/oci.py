"""Archives of images, in the layout of the OCI. Equal images give equal archives, whichever program built them.

  oci.py image LAYOUT ARCHIVE      packs the only image of a layout, which is a folder
  oci.py index ARCHIVE IMAGE...    joins archives of one image each to a multi-architecture image
  oci.py digest ARCHIVE            prints the digest by which a registry knows the content of the archive
  oci.py digests ARCHIVE           prints the architecture and the digest of each image
  oci.py extract ARCHIVE FOLDER    unpacks the files of an archive of one image
"""

import hashlib
import io
import json
import os
import pathlib
import sys
import tarfile

INDEX = "application/vnd.oci.image.index.v1+json"
ATTESTATION = "unknown"


def encoded(document):
    return json.dumps(document, sort_keys=True, separators=(",", ":")).encode()


def digest(content):
    return "sha256:" + hashlib.sha256(content).hexdigest()


def path_of(name):
    return "blobs/" + name.replace(":", "/")


class Layout:
    """Blobs by digest, and the descriptors of its index.json."""

    def __init__(self, read):
        self.read = read
        self.manifests = json.loads(read("index.json"))["manifests"]

    def blob(self, name):
        content = self.read(path_of(name))
        assert digest(content) == name, f"{name}: the content has another digest"
        return content

    def images(self):
        """Returns the descriptors of all images, also of those in an index, without attestations."""
        found = []
        for each in self.manifests:
            found += json.loads(self.blob(each["digest"]))["manifests"] if each["mediaType"] == INDEX else [each]
        return [each for each in found if each.get("platform", {}).get("os") != ATTESTATION]

    def image(self):
        images = self.images()
        if len(images) != 1:
            sys.exit(f"error: expected one image, not {len(images)}")
        return images[0]

    def parts(self, image):
        """Returns the digests of an image's manifest, configuration and layers, and its platform."""
        manifest = json.loads(self.blob(image["digest"]))
        configuration = json.loads(self.blob(manifest["config"]["digest"]))
        platform = {key: configuration[key] for key in ("architecture", "os", "variant") if configuration.get(key)}
        layers = [layer["digest"] for layer in manifest["layers"]]
        return [image["digest"], manifest["config"]["digest"], *layers], platform


def open_folder(folder):
    return Layout(lambda name: (pathlib.Path(folder) / name).read_bytes())


def open_archive(path):
    archive = tarfile.open(path)
    return Layout(lambda name: archive.extractfile(name).read())


def write(path, manifests, blobs):
    """Writes an archive. Its bytes depend only on its content and on SOURCE_DATE_EPOCH."""
    files = {path_of(name): content for name, content in blobs.items()}
    files["oci-layout"] = encoded({"imageLayoutVersion": "1.0.0"})
    files["index.json"] = encoded({"schemaVersion": 2, "mediaType": INDEX, "manifests": manifests})
    with tarfile.open(path, "w", format=tarfile.USTAR_FORMAT) as archive:
        for name, content in sorted(files.items()):
            member = tarfile.TarInfo(name)
            member.size, member.mtime = len(content), int(os.environ.get("SOURCE_DATE_EPOCH", 0))
            archive.addfile(member, io.BytesIO(content))


def described(layout):
    """Returns the descriptor and the blobs of the only image of a layout."""
    image = layout.image()
    names, platform = layout.parts(image)
    descriptor = {"mediaType": image["mediaType"], "digest": image["digest"], "size": image["size"], "platform": platform}
    return descriptor, {name: layout.blob(name) for name in names}


def pack_image(folder, archive):
    descriptor, blobs = described(open_folder(folder))
    write(archive, [descriptor], blobs)


def pack_index(archive, *sources):
    images, blobs = [], {}
    for source in sources:
        descriptor, of_image = described(open_archive(source))
        images.append(descriptor)
        blobs |= of_image
    images.sort(key=lambda each: each["platform"]["architecture"])
    index = encoded({"schemaVersion": 2, "mediaType": INDEX, "manifests": images})
    blobs[digest(index)] = index
    write(archive, [{"mediaType": INDEX, "digest": digest(index), "size": len(index)}], blobs)


def print_digest(archive):
    print(open_archive(archive).manifests[0]["digest"])


def print_digests(archive):
    for each in open_archive(archive).images():
        print(each["platform"]["architecture"], each["digest"])


def extract(archive, folder):
    layout = open_archive(archive)
    manifest = json.loads(layout.blob(layout.image()["digest"]))
    for layer in manifest["layers"]:
        with tarfile.open(fileobj=io.BytesIO(layout.blob(layer["digest"]))) as files:
            files.extractall(folder, filter="data")


COMMANDS = {"image": pack_image, "index": pack_index, "digest": print_digest, "digests": print_digests, "extract": extract}

if __name__ == "__main__":
    if len(sys.argv) < 3 or sys.argv[1] not in COMMANDS:
        sys.exit(__doc__)
    COMMANDS[sys.argv[1]](*sys.argv[2:])
