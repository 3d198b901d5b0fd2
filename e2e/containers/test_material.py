"""Course material from git repositories, public and private: the next launch has the edits of the student and the push of the
teacher, also if the servers are down, and no workshop has the password."""

import base64
import contextlib
import io
import json
import secrets
import tarfile

import pytest
from git_server import git_server, new_certificate
from network import INTERNET, in_surroundings
from world import ALICE, BOB, IMAGES, PLACE, SHELL, WORK, World

PASSWORD = secrets.token_hex(16)
TEACHER = "Basic " + base64.b64encode(f"teacher:{PASSWORD}".encode()).decode()
# The material image with the certificate of the private server.
TRUSTING = f"{IMAGES}/trusting"


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    return new_certificate(tmp_path_factory.mktemp("certificate"), INTERNET)


@pytest.fixture(scope="module")
def image(api, certificate):
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w") as tar:
        tar.add(certificate[0], "etc/ssl/certs/ca-certificates.crt")
    archive.seek(0)
    made = api.call("POST", "/containers/create", {"Image": f"{IMAGES}/material:test"})["Id"]
    api.call("PUT", f"/containers/{made}/archive?path=/", archive)
    api.call("POST", f"/commit?container={made}&repo={TRUSTING}&tag=test", {})
    api.call("DELETE", f"/containers/{made}?force=true&v=true")
    return f"{TRUSTING}:test"


@pytest.fixture(scope="module")
def world(image):
    with World(SERVICE_MATERIAL_IMAGE=image) as made:
        yield made


def store_secret(world, name, **files):
    """Creates a secret as an administrator does."""
    folder = world.launcher.data / "material-secrets" / name
    folder.mkdir(mode=0o700, parents=True)
    for file, content in files.items():
        (folder / file).write_text(content)
        (folder / file).chmod(0o600)


def outcomes(world, name):
    """Waits until the workshop runs. Returns the outcomes of its course material, {folder: outcome}."""
    return {source["target"]: source["outcome"] for source in world.until(name, "running")["material"]}


def places(world, name, *words):
    """Returns where the app has each of these words: {word: the paths of files and environments, and its containers}."""
    search = " ".join(f"-e '{word}'" for word in words)
    search = f"grep -raosF {search} / --exclude-dir=proc --exclude-dir=sys --exclude-dir=usr; grep -aosF {search} /proc/[0-9]*/environ; true"
    found = {word: {part for part in ("app", "sidecar") if word in json.dumps(world.container(name, part))} for word in words}
    for line in world.shell(name, search).splitlines():
        path, _, word = line.rpartition(":")
        found[word].add("environment" if path.startswith("/proc/") else path)
    return found


def test_next_launch_has_edit_and_push_also_if_the_servers_are_down(world, certificate):
    with contextlib.ExitStack() as servers:
        lesson = servers.enter_context(git_server(INTERNET, network=in_surroundings(PLACE)))
        exam = servers.enter_context(git_server(INTERNET, certificate, TEACHER, network=in_surroundings(PLACE)))
        store_secret(world, "exams", username="teacher", password=PASSWORD, url=exam.url)
        sources = [
            {"kind": "git", "url": lesson.url, "target": "lesson"},
            {"kind": "git", "url": exam.url, "target": "exam", "secret": "exams"},
            # Proves that the server demands the password.
            {"kind": "git", "url": exam.url, "target": "refused"},
        ]
        template = world.template(SHELL, storage=WORK, material={"sources": sources})
        lesson.push({"notes.txt": "notes 1\n", "task.txt": "task 1\n"})
        exam.push({"question.txt": "question 1\n"})

        first = world.launch(template)
        assert outcomes(world, first) == {"lesson": "placed", "exam": "placed", "refused": "failed"}
        control, variable, secret = "question 1", "PYTHONPATH=/opt/workshop", TEACHER.split()[1]
        found = places(world, first, control, variable, PASSWORD, secret)
        assert found[control] == {"/work/exam/question.txt"} and {"app", "environment"} <= found[variable], found
        assert found[PASSWORD] == found[secret] == set(), found
        world.shell(first, "cd /work; echo edit >> lesson/notes.txt; echo answer >> exam/question.txt")
        world.finish(first)

        lesson.push({"task.txt": "task 2\n"})
        exam.push({"question2.txt": "question 2\n"})
        second, other = world.launch(template, ALICE), world.launch(template, BOB)
        assert outcomes(world, second) == {"lesson": "updated", "exam": "updated", "refused": "failed"}
        assert outcomes(world, other) == {"lesson": "placed", "exam": "placed", "refused": "failed"}
        show = "cd /work; cat lesson/* exam/*"
        of_alice = "notes 1\nedit\ntask 2\nquestion 1\nanswer\nquestion 2\n"
        assert world.shell(second, show) == of_alice
        assert world.shell(other, show, BOB) == "notes 1\ntask 2\nquestion 1\nquestion 2\n"
        world.finish(second)

    third = world.launch(template)
    assert set(outcomes(world, third).values()) == {"failed"}
    for source in world.instance(third)["material"]:
        assert source["message"].startswith(f"{INTERNET} refuses the connection"), source
    assert world.shell(third, show) == of_alice
    assert PASSWORD not in world.launcher.log.read_text()
    world.finish(third)
