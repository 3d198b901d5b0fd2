"""A storage class with volumes of the type `local`: the test cluster provisions no volumes."""

import contextlib
import os
import pathlib
import shutil
import subprocess
import tempfile

from harness import wait_for


@contextlib.contextmanager
def local_volumes(world, storage_class, count, disk=None):
    """Creates the storage class and its volumes. Their directories belong to root, like those of real storage. With `disk`,
    each volume is a separate disk with this number of bytes. Every node can mount them, because all nodes of the test
    cluster are on this machine. After the block, deletes all Workshops and claims of the namespace, too."""
    terms = [{"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "Exists"}]}]
    folder = pathlib.Path(tempfile.mkdtemp(prefix="launcher-volumes-", dir="/var/tmp"))
    names = [f"{storage_class}-{number}" for number in range(count)]
    kind = {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": storage_class}}
    made = [kind | {"provisioner": "kubernetes.io/no-provisioner", "volumeBindingMode": "Immediate"}]
    for name in names:
        os.makedirs(folder / name, mode=0o755)
        spec = {
            "capacity": {"storage": "1Gi"},
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": storage_class,
            "persistentVolumeReclaimPolicy": "Retain",
            "local": {"path": str(folder / name)},
            "nodeAffinity": {"required": {"nodeSelectorTerms": terms}},
        }
        made.append({"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name}, "spec": spec})
    try:
        for name in names if disk else ():
            mount_disk(folder / name, disk)
        world.apply(*made)
        yield
    finally:
        world.kubectl("delete", "workshops,workshopdownloads", "--all", check=False)
        wait_for("the pods to be gone", lambda: not world.objects("pods"))
        world.kubectl("delete", "persistentvolumeclaims", "--all", check=False)
        world.kubectl("delete", "persistentvolume", *names, "--ignore-not-found", check=False)
        world.kubectl("delete", "storageclass", storage_class, "--ignore-not-found", check=False)
        for path in filter(os.path.ismount, folder.iterdir()):
            subprocess.run(["umount", path], check=True)
        shutil.rmtree(folder, ignore_errors=True)


def mount_disk(path, size):
    """Mounts a new file system of this size here. Its content is in a file beside it."""
    image = path.with_suffix(".disk")
    image.touch()
    os.truncate(image, size)
    subprocess.run(["mkfs.ext4", "-q", image], check=True)
    subprocess.run(["mount", "-o", "loop", image, path], check=True)
