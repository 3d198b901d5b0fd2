// A git server on loopback: git's own program for it, behind an HTTPS server.

import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:https";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { buffer } from "node:stream/consumers";

/** Settings that make git independent of the machine's user. */
const GIT = {
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_CONFIG_SYSTEM: "/dev/null",
  GIT_AUTHOR_NAME: "Teacher",
  GIT_AUTHOR_EMAIL: "teacher@example.org",
  GIT_COMMITTER_NAME: "Teacher",
  GIT_COMMITTER_EMAIL: "teacher@example.org",
};

/** Answers one request with `git http-backend` (CGI, RFC 3875). */
async function answer(root, request, response) {
  const { pathname, search } = new URL(request.url, "http://localhost");
  const environment = {
    PATH: process.env.PATH,
    ...GIT,
    GIT_PROJECT_ROOT: root,
    GIT_HTTP_EXPORT_ALL: "1",
    REQUEST_METHOD: request.method,
    PATH_INFO: decodeURIComponent(pathname),
    QUERY_STRING: search.slice(1),
    CONTENT_TYPE: request.headers["content-type"] ?? "",
  };
  if (request.headers["git-protocol"]) environment.GIT_PROTOCOL = request.headers["git-protocol"];
  const body = await buffer(request);
  const child = spawn("git", ["http-backend"], {
    env: { ...environment, CONTENT_LENGTH: String(body.length) },
    stdio: ["pipe", "pipe", "ignore"],
  });
  child.stdin.on("error", () => {}); // git may end before it has read the whole body.
  child.stdin.end(body);
  const output = await buffer(child.stdout);
  const end = output.indexOf("\r\n\r\n");
  const lines = output.subarray(0, end).toString().split("\r\n").map((line) => line.split(": "));
  const headers = Object.fromEntries(lines);
  const status = parseInt(headers.Status ?? "200", 10);
  delete headers.Status;
  response.writeHead(status, headers).end(output.subarray(end + 4));
}

/** Words of openssl for a certificate of 127.0.0.1 that signs itself. */
const CERTIFICATE =
  "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=git-server " +
  "-addext subjectAltName=IP:127.0.0.1 -addext basicConstraints=critical,CA:FALSE -keyout key.pem -out certificate.pem";

/**
 * Starts a server with one repository, which has two addresses: `url` and `project`. The server and the repository are
 * removed at the end of the test.
 */
export async function startGitServer(test) {
  const root = await mkdtemp(join(tmpdir(), "git-server-"));
  const work = join(root, "work");
  const git = (...words) => execFileSync("git", words, { cwd: work, env: { PATH: process.env.PATH, ...GIT } });
  await mkdir(work);
  git("init", "--quiet", "--initial-branch=main");
  execFileSync("git", ["init", "--quiet", "--bare", "--initial-branch=main", join(root, "lesson.git")]);
  await symlink("lesson.git", join(root, "project.git"));
  execFileSync("openssl", CERTIFICATE.split(" "), { cwd: root, stdio: "ignore" });
  const [key, cert] = await Promise.all(["key.pem", "certificate.pem"].map((name) => readFile(join(root, name))));
  const server = createServer({ key, cert }, (request, response) => {
    answer(root, request, response).catch((error) => response.destroy(error));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const close = async () => {
    if (!server.listening) return;
    server.closeAllConnections();
    server.close();
    await once(server, "close");
  };
  test.after(async () => {
    await close();
    await rm(root, { recursive: true, force: true });
  });
  const base = `https://127.0.0.1:${server.address().port}/`;
  return {
    base,
    url: `${base}lesson.git`,
    project: `${base}project.git`,
    certificate: join(root, "certificate.pem"),
    close,
    /** Commits these files, and pushes them. */
    push: async (files) => {
      for (const [path, content] of Object.entries(files)) {
        await mkdir(dirname(join(work, path)), { recursive: true });
        await writeFile(join(work, path), content);
      }
      git("add", "--all");
      git("commit", "--quiet", "--message=change");
      git("push", "--quiet", join(root, "lesson.git"), "main");
    },
  };
}
