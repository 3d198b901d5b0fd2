"""The server under test: its images, the commands of setup, its users, its containers."""

import html
import io
import json
import os
import pathlib
import re
import subprocess
import sys
import tarfile

from harness import DEADLINE, ROOT, wait_for
from visitor import Visitor

LAUNCHER, WORKSHOP_DOMAIN = "https://launcher.test", "workshops.test"
ALICE, BOB, ADMIN = "alice@example.org", "bob@example.org", "admin@example.org"
ECHO = "01980000-0000-7000-8000-000000000002"
IMAGES = {
    "LAUNCHER_IMAGE": "localhost/workshop-launcher/launcher:test",
    "SIDECAR_IMAGE": "localhost/workshop-launcher/sidecar:test",
    "MATERIAL_IMAGE": "localhost/workshop-launcher/material:test",
    "TRAEFIK_IMAGE": "localhost/workshop-launcher/traefik:test",
    "OAUTH2_PROXY_IMAGE": "localhost/workshop-launcher/oauth2-proxy:test",
    "DEX_IMAGE": "localhost/workshop-launcher/dex:test",
}
# Headers of requests to the API.
JSON = {"Accept": "application/json", "Content-Type": "application/json"}
APP_IMAGE = "localhost/workshop-launcher/http:test"
# The image of the preset JupyterLab. The students of the class day use the test app under this name, which needs less memory.
NOTEBOOK_IMAGE = "quay.io/jupyter/scipy-notebook:latest"
TEACHER = "teacher@example.org"
# The people of e2e/browser/class-day.mjs.
STUDENTS = [f"student-{number}@example.org" for number in range(1, 34)]
DESKTOP_IMAGE = "localhost/workshop-launcher/desktop:test"
# Paths of the programs in the official images.
PROGRAMS = {"traefik": "usr/local/bin/traefik", "oauth2-proxy": "bin/oauth2-proxy", "dex": "usr/local/bin/dex"}
TEMPLATES = [
    {
        "template_id": ECHO,
        "name": "Echo",
        "description": "Returns the request that it received.",
        "app_type": "custom",
        "image": APP_IMAGE,
        "port": 8888,
        "args": ["serve"],
        "resources": {"cpu_request": "5m", "cpu_limit": "1", "memory_request": "16Mi", "memory_limit": "64Mi"},
    }
]


class Machine:
    """Runs setup as an administrator does, and acts for users."""

    current = None

    def __init__(self):
        self.engine, self.socket = os.environ["SERVER_ENGINE"], os.environ["SERVER_SOCKET"]
        self.place = pathlib.Path(os.environ["SERVER_PLACE"]) / "server"
        self.root, self.data = self.place / "workshop-launcher", self.place / "a-data-directory-with-a-longer-path-than-a-socket"
        self.place.mkdir()
        self.passwords = {}
        Machine.current = self

    # Images.

    def import_images(self):
        contexts, programs = pathlib.Path(os.environ["IMAGE_CONTEXTS"]), pathlib.Path(os.environ["LOGIN_BIN"])
        authorities = pathlib.Path("/etc/ssl/certs/ca-certificates.crt")
        for name, path in PROGRAMS.items():
            self.import_image(f"localhost/workshop-launcher/{name}:test", {path: programs / name, "etc/ssl/certs/ca-certificates.crt": authorities})
        self.import_launcher()
        sidecar = {"launcher-sidecar": contexts / "sidecar/launcher-sidecar"}
        self.import_image(IMAGES["SIDECAR_IMAGE"], sidecar, 'ENTRYPOINT ["/launcher-sidecar"]', "USER 65532:65532")
        material = {"launcher-material": contexts / "material/launcher-material"}
        self.import_image(IMAGES["MATERIAL_IMAGE"], material, 'ENTRYPOINT ["/launcher-material"]', "USER 65532:65532")
        self.import_image(APP_IMAGE, {"app": contexts / "http/app"}, 'ENTRYPOINT ["/app"]', 'CMD ["serve"]', "USER 65532:65532")
        self.command("tag", APP_IMAGE, NOTEBOOK_IMAGE)

    def import_launcher(self, **more):
        """Imports the launcher's image. `more` are additional files: they make another image of the same program."""
        context = pathlib.Path(os.environ["IMAGE_CONTEXTS"]) / "launcher"
        files = {str(path.relative_to(context / "rootfs")): path for path in (context / "rootfs").rglob("*") if path.is_file()}
        self.import_image(IMAGES["LAUNCHER_IMAGE"], {**files, **more, "usr/local/bin/launcher": context / "launcher"})

    def import_image(self, reference, files, *changes):
        """Imports an image with these files, {path: file or bytes}."""
        options = [word for change in changes for word in ("--change", change)]
        self.send_files(["import", *options, "-", reference], files)

    def send_files(self, words, files):
        """Runs the engine's command with an archive of these files, {path: file or bytes}, as its input."""
        process = subprocess.Popen([self.engine, *words], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, env=self.environment())
        with process.stdin, tarfile.open(fileobj=process.stdin, mode="w|") as archive:
            for name, source in files.items():
                member = tarfile.TarInfo(name)
                member.mode = 0o755
                content = source if isinstance(source, bytes) else source.read_bytes()
                member.size = len(content)
                archive.addfile(member, io.BytesIO(content))
        assert process.wait() == 0

    def import_presets(self):
        """Imports the images of the presets JupyterLab, Desktop and Terminal. That of the terminal has the file system of the
        desktop and ttyd."""
        self.command("load", "--input", os.environ["JUPYTER_IMAGE"])
        self.command("tag", "localhost/workshop-launcher/jupyter:test", NOTEBOOK_IMAGE)
        self.command("import", "--change", "USER 1000", "--change", "WORKDIR /home/user", os.environ["DESKTOP_ROOT"], DESKTOP_IMAGE)
        ttyd = pathlib.Path(os.environ["TEST_APPS"]) / "ttyd"
        self.derive("docker.io/tsl0922/ttyd:latest", {"usr/bin/ttyd": ttyd}, "WORKDIR /root", 'CMD ["ttyd", "bash"]')

    def derive(self, reference, files, *changes):
        """Creates an image for root: the desktop's with these files, {path: file or bytes}."""
        container = self.command("create", DESKTOP_IMAGE, "true").strip()
        self.send_files(["cp", "-", f"{container}:/"], files)
        options = [word for change in ("USER root", *changes) for word in ("--change", change)]
        self.command("commit", *options, container, reference)
        self.command("rm", container)

    def environment(self):
        return os.environ | ({"DOCKER_HOST": f"unix://{self.socket}"} if self.engine == "docker" else {})

    # Setup.

    def run(self, *words, code=0, stdin=""):
        """Runs setup. Returns its output: stdout and stderr together. Fails unless its exit status is `code`, if it is a number."""
        commands = ("accounts", "backup", "restore", "upgrade", "doctor", "stop")
        command = [words[0]] if words and words[0] in commands else []
        rest = list(map(str, words[len(command):]))
        done = subprocess.run(
            [ROOT / "deploy/server/setup", *command, "--directory", self.root, *rest],
            cwd=self.place, input=stdin, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=600,
        )
        assert code in (None, done.returncode), done.stdout
        return done.stdout

    def set_up(self):
        """Runs setup on the empty server, with the images and templates of the test."""
        (self.root / "launcher").mkdir(mode=0o700, parents=True)
        (self.root / "images.env").write_text("".join(f"{name}={reference}\n" for name, reference in IMAGES.items()))
        (self.root / "images.env").chmod(0o600)
        (self.root / "launcher/templates.json").write_text(json.dumps(TEMPLATES))
        told = self.run(
            "--domain", "launcher.test", "--workshops-domain", WORKSHOP_DOMAIN, "--admin", ADMIN, "--login", "local",
            "--tls", "private-ca", "--data-dir", self.data, "--engine", self.engine, "--engine-socket", self.socket,
        )
        self.passwords[ADMIN] = re.search(rf"^Password of {ADMIN}: (\S+)$", told, re.MULTILINE)[1]
        return told

    def create_accounts(self):
        """Creates people from a file, and reads their passwords from the printed sheet."""
        (self.place / "class.csv").write_text("email\n" + "".join(f"{email}\n" for email in (ALICE, BOB, TEACHER, *STUDENTS)))
        self.run("accounts", "class.csv", "--sheet", "sheet.html")
        text = (self.place / "sheet.html").read_text()
        cards = re.findall(r"E-mail address: <code>(.*?)</code>.*?Password: <code>(.*?)</code>", text, re.DOTALL)
        self.passwords |= {html.unescape(address): password for address, password in cards}

    def name_teacher(self):
        """Lets the teacher create classes, as an administrator does."""
        with (self.root / "launcher.env").open("a") as settings:
            settings.write(f"SERVICE_CLASS_CREATORS={TEACHER}\n")
        self.run()

    def containers(self):
        """Returns the project's containers: {service: (id, start time)}."""
        label = f"label=com.docker.compose.project={self.root.name}"
        ids = self.command("ps", "--all", "--quiet", "--no-trunc", "--filter", label).split()
        found = json.loads(self.command("inspect", *ids)) if ids else []
        return {one["Config"]["Labels"]["com.docker.compose.service"]: (one["Id"], one["State"]["StartedAt"]) for one in found}

    def changed(self, before):
        """Returns the services whose containers are not those of `before`, or have restarted."""
        return {service for service, container in self.containers().items() if container != before[service]}

    def command(self, *words, check=True):
        """Runs the engine's command, and returns its output."""
        done = subprocess.run([self.engine, *words], env=self.environment(), capture_output=True, text=True, timeout=DEADLINE)
        assert not check or done.returncode == 0, done.stdout + done.stderr
        return done.stdout if check else done.stdout + done.stderr

    def print_logs(self):
        for service, (identifier, _) in self.containers().items():
            print(f"== {service}\n{self.command('logs', '--tail', '25', identifier, check=False)}", file=sys.stderr)

    def remove(self):
        Machine.current = None
        self.remove_containers()

    def remove_containers(self):
        """Removes all containers of the engine, which belongs to this test only."""
        for identifier in self.command("ps", "--all", "--quiet", check=False).split():
            self.command("rm", "--force", identifier, check=False)

    # Users.

    def visitor(self):
        """Returns a new browser profile in which the server's names resolve."""
        return Visitor({"launcher.test": "127.0.0.1", f".{WORKSHOP_DOMAIN}": "127.0.0.1"})

    def signed_in(self, email, url=f"{LAUNCHER}/"):
        """Returns a new browser profile in which this user is logged in."""
        visitor = self.visitor()
        answer = visitor.log_in(url, email, self.passwords[email])
        assert (answer.status, answer.is_login_form) == (200, False), (answer.url, answer.status, answer.body[:500])
        return visitor

    def me(self, visitor):
        """Returns the identity that the launcher sees, or the status of the refusal."""
        answer = visitor.request("GET", f"{LAUNCHER}/api/v1/me", JSON)
        return json.loads(answer.body) if answer.status == 200 else answer.status

    def launched(self, visitor):
        """Launches the test app, waits until it runs, and returns (name, url)."""
        answer = visitor.request("POST", f"{LAUNCHER}/api/v1/templates/{ECHO}/launch", JSON, "{}")
        assert answer.status == 201, answer.body
        name = json.loads(answer.body)["k8s_name"]

        def is_running():
            seen = json.loads(visitor.request("GET", f"{LAUNCHER}/api/v1/instances/{name}", JSON).body)
            assert seen["state"] != "failed", seen
            return seen if seen["state"] == "running" else None

        return name, wait_for(f"{name} to run", is_running)["url"]

    def opened(self, visitor, email, url):
        """Opens a workshop, with a login at the workshops' domain if it has none. Returns the last answer."""
        return visitor.log_in(url, email, self.passwords[email])

    def app_container(self, name):
        """Returns the container of the app of this workshop."""
        labels = (f"label=workshoplauncher.dev/workshop={name}", "label=workshoplauncher.dev/part=app")
        options = [word for label in labels for word in ("--filter", label)]
        return self.command("ps", "--quiet", *options).strip()
