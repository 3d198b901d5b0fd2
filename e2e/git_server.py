"""A git repository and its server, which workshops reach: `git http-backend` behind Python's server."""

import contextlib
import http.server
import os
import pathlib
import shutil
import ssl
import subprocess
import tempfile
import threading

# Settings that make git independent of the machine's user.
CLEAN = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null"}
CLEAN |= {f"GIT_{role}_NAME": "teacher" for role in ("AUTHOR", "COMMITTER")}
CLEAN |= {f"GIT_{role}_EMAIL": "teacher@example.org" for role in ("AUTHOR", "COMMITTER")}


def new_certificate(folder, address):
    """Creates a certificate for a server at this address, and its key. Returns the paths of both files."""
    words = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=git-server"
    extensions = ["-addext", f"subjectAltName=IP:{address}", "-addext", "basicConstraints=critical,CA:FALSE"]
    files = folder / "server.crt", folder / "server.key"
    subprocess.run([*words.split(), *extensions, "-out", files[0], "-keyout", files[1]], check=True, capture_output=True)
    return files


class Course:
    """The repository. `login` is the only value of the header Authorization that the server accepts, or None. A slow server
    sends one byte of a pack per second."""

    def __init__(self, folder, login, is_slow):
        self.folder, self.login, self.is_slow = folder, login, is_slow
        self.url = None
        # The header Authorization of each request.
        self.logins = []
        self.stopped = threading.Event()
        self.git("init", "--quiet", "--initial-branch=main")

    def git(self, *words):
        place = {"GIT_DIR": str(self.folder / "course.git"), "GIT_WORK_TREE": str(self.folder)}
        done = subprocess.run(["git", *words], env=os.environ | CLEAN | place, check=True, capture_output=True, text=True)
        return done.stdout.strip()

    def push(self, files):
        """Commits these files {name: text}. Returns the id of the commit."""
        for name, text in files.items():
            path = self.folder / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
        self.git("add", *files)
        self.git("commit", "--quiet", "--message=change")
        return self.git("rev-parse", "HEAD")

    def answer(self, request):
        """Answers one request of an `http.server` (CGI, RFC 3875)."""
        self.logins.append(request.headers.get("Authorization"))
        path, _, query = request.path.partition("?")
        is_refused = self.login and self.logins[-1] != self.login
        if is_refused or not path.startswith("/course.git/"):
            request.send_response(401 if is_refused else 404)
            request.send_header("Content-Length", "0")
            request.end_headers()
            return
        body = request.rfile.read(int(request.headers.get("Content-Length", 0)))
        environment = os.environ | CLEAN | {
            "GIT_PROJECT_ROOT": str(self.folder),
            "GIT_HTTP_EXPORT_ALL": "1",
            "REQUEST_METHOD": request.command,
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "CONTENT_TYPE": request.headers.get("Content-Type", ""),
            "CONTENT_LENGTH": str(len(body)),
            "GIT_PROTOCOL": request.headers.get("Git-Protocol", ""),
            "HTTP_CONTENT_ENCODING": request.headers.get("Content-Encoding", ""),
        }
        streams = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        with subprocess.Popen(["git", "http-backend"], env=environment, **streams) as backend:
            backend.stdin.write(body)
            backend.stdin.close()
            request.wfile.write(b"HTTP/1.0 200 OK\r\n")
            if not self.is_slow or b"want " not in body:
                shutil.copyfileobj(backend.stdout, request.wfile, 1 << 20)
                return
            head, end, pack = backend.stdout.read().partition(b"\r\n\r\n")
        request.wfile.write(head + end)
        # The client closes the connection when it has waited long enough.
        with contextlib.suppress(OSError):
            for byte in pack:
                request.wfile.write(bytes([byte]))
                if self.stopped.wait(1):
                    break


@contextlib.contextmanager
def git_server(address, certificate=None, login=None, is_slow=False, network=contextlib.nullcontext()):
    """Serves an empty repository at this address during the block, with a certificate by https. Yields it. `network` is a
    context manager: sockets that are created in it are in the network of the address."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            course.answer(self)

        do_POST = do_GET

        def log_message(self, *_):
            pass

    with tempfile.TemporaryDirectory(prefix="launcher-course-") as folder:
        course = Course(pathlib.Path(folder), login, is_slow)
        with network:
            server = http.server.ThreadingHTTPServer((address, 0), Handler)
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*certificate)
            server.socket = context.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        course.url = f"{'https' if certificate else 'http'}://{address}:{server.server_port}/course.git"
        try:
            yield course
        finally:
            course.stopped.set()
            server.shutdown()
            thread.join()
            server.server_close()
