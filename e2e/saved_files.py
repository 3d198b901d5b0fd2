"""Saved and kept files of workshops, as their owner downloads them from the launcher."""

import io
import tarfile


def saved_files(launcher, name, owner, stranger):
    """Returns {path: content} of the saved files of an ended workshop, or None if nothing is saved. Checks that the
    stranger gets a 404."""
    status, _, listed = launcher.request("GET", "/snapshots/", owner)
    assert status == 200, (status, listed)
    found = [one["snapshot_id"] for one in listed if one["workshop"] == name]
    if not found:
        return None
    return downloaded(launcher, f"/snapshots/{found[0]}/download", owner, stranger)


def downloaded(launcher, path, owner, stranger):
    """Returns {path: content} of the files in the archive at this path of the API. Checks that the stranger gets a 404."""
    status, _, problem = launcher.request("GET", path, stranger)
    assert status == 404, (status, problem)
    status, _, archive = launcher.request("GET", path, owner)
    assert status == 200, (status, archive)
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        return {one.name.removeprefix("./"): tar.extractfile(one).read().decode() for one in tar if one.isfile()}
