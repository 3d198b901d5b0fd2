"""Tests course material of git servers on one machine: each launch has the edits of the student and the pushes of the teacher.

A link adds another repository, for which the same is true. Servers that are down do not prevent a launch.
"""

import contextlib

import pytest

from git_server import git_server, new_certificate
from harness import ADMIN, Launcher
from kill9 import notes
from kill9.outage import Outage

pytestmark = pytest.mark.kill9
HOST = "127.0.0.1"


class Student:
    """A student who launches a template whose material is a repository, and who may add another one."""

    def __init__(self, launcher, lesson, project):
        self.outage, self.project = Outage(launcher), project
        sources = [{"kind": "git", "url": lesson.url, "ref": "main", "target": "lesson"}]
        material = {"sources": sources, "allowed_repositories": [project.url.removesuffix("course.git")]}
        self.template = self.outage.new_template("Penguins", notes.COMMAND, material=material, **notes.KEPT)
        self.launches = 0

    @contextlib.contextmanager
    def workshop(self, adds_project=False):
        """Launches the template, and ends the workshop after the block. Yields its name and the reports of its sources."""
        self.launches += 1
        body = {"repository": {"url": self.project.url, "ref": "main"}} if adds_project else {}
        path, headers = f"/templates/{self.template}/launch", {"Idempotency-Key": f"launch-{self.launches}"}
        status, _, made = self.outage.launcher.request("POST", path, ADMIN, body, headers)
        assert status == 201, (status, made)
        name = made["k8s_name"]
        reports = self.outage.until(name, "running")["material"]
        yield name, {report["target"]: (report["outcome"], report["conflicts"]) for report in reports}
        self.outage.finish(name)

    def edit(self, name, path):
        status, answer = self.outage.send(name, "PUT", path, body="edit")
        assert status == 204, (status, answer)

    def read(self, name, path):
        status, text = self.outage.send(name, "GET", path)
        assert status == 200, (status, text)
        return text.decode()


@pytest.fixture
def certificate(tmp_path):
    return new_certificate(tmp_path, HOST)


@pytest.fixture
def launcher(launcher_program, certificate):
    with Launcher(SERVICE_LOG="warn", SSL_CERT_FILE=str(certificate[0])) as made:
        made.start()
        yield made
        print(made.log_tail())


def test_each_launch_has_the_edits_of_the_student_and_the_pushes_of_the_teacher(launcher, certificate):
    with git_server(HOST, certificate) as lesson, git_server(HOST, certificate) as project:
        student = Student(launcher, lesson, project)
        lesson.push({"task.txt": "task 1", "numbers.txt": "1 2 3"})
        project.push({"data.txt": "1 2 3", "more.txt": "4 5 6"})
        with student.workshop(adds_project=True) as (name, reports):
            assert reports == {"lesson": ("placed", []), "course": ("placed", [])}
            student.edit(name, "/lesson/numbers.txt")
            student.edit(name, "/course/data.txt")

        lesson.push({"task.txt": "task 2", "week2.txt": "new"})
        project.push({"more.txt": "7 8 9"})
        with student.workshop(adds_project=True) as (name, reports):
            assert reports == {"lesson": ("updated", []), "course": ("updated", [])}
            paths = ["lesson/numbers.txt", "lesson/task.txt", "lesson/week2.txt", "course/data.txt", "course/more.txt"]
            assert [student.read(name, f"/{path}") for path in paths] == ['"edit"', "task 2", "new", '"edit"', "7 8 9"]

        lesson.push({"numbers.txt": "10 11 12"})
        with student.workshop() as (name, reports):
            assert reports == {"lesson": ("updated", ["numbers.txt"])}
            assert student.read(name, "/lesson/numbers.txt") == '"edit"'

    with student.workshop() as (name, reports):
        assert reports == {"lesson": ("failed", [])}
        assert student.read(name, "/lesson/week2.txt") == "new"
    student.outage.end_all()
