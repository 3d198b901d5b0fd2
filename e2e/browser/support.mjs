// Starts a launcher and a Chromium for a test. Both are stopped at the end of the test, also after a failure.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { randomInt } from "node:crypto";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { mkdir, mkdtemp, open, readFile, readdir, rm } from "node:fs/promises";
import { request } from "node:http";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { chromium } from "playwright-core";

export const ROOT = resolve(import.meta.dirname, "../..");
export const ADMIN = "admin@example.org";
const PROGRAM = resolve(ROOT, process.env.CARGO_TARGET_DIR ?? "target", "debug/launcher");
const SCREENSHOTS = join(ROOT, ".local/screenshots");
/** Upper bound of each wait for an event, in seconds. It only bounds a hang: no event of a test may depend on it. */
const DEADLINE = 180;

/** Calls `look` every `pause` milliseconds until it returns a truthy value, and returns that value. */
export async function waitFor(what, look, pause = 50) {
  const deadline = Date.now() + DEADLINE * 1000;
  for (;;) {
    const found = await look();
    if (found) return found;
    assert.ok(Date.now() < deadline, `timed out after ${DEADLINE} s waiting for ${what}`);
    await sleep(pause); // pacing: a poll loop
  }
}

/**
 * Returns a free loopback port, another one at each call, in all test processes of this machine: a UDP socket with the same
 * port reserves it. The port is below the ephemeral range, so no outgoing connection can take it meanwhile.
 */
export async function freePort() {
  const firstOutgoing = parseInt(await readFile("/proc/sys/net/ipv4/ip_local_port_range", "utf8"), 10);
  for (;;) {
    const port = randomInt(firstOutgoing >> 1, firstOutgoing);
    const reservation = createSocket("udp4");
    const server = createServer();
    try {
      await once(reservation.bind({ port, address: "127.0.0.1", exclusive: true }), "listening");
      await once(server.listen(port, "127.0.0.1"), "listening");
    } catch {
      reservation.close();
      continue; // The port is in use.
    }
    server.close();
    await once(server, "close");
    reservation.unref();
    return port;
  }
}

/** Starts `launcher serve` with the templates of `make run`, on free ports and with an empty data directory. */
export async function startLauncher(test, settings = {}) {
  const data = await mkdtemp(join(tmpdir(), "launcher-browser-"));
  const [port, telemetryPort] = [await freePort(), await freePort()];
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith("SERVICE_"));
  const log = await open(join(data, "launcher.log"), "a");
  const child = spawn(PROGRAM, ["serve"], {
    cwd: ROOT,
    stdio: ["ignore", log.fd, log.fd],
    env: {
      ...Object.fromEntries(inherited),
      SERVICE_LISTEN_ADDR: `127.0.0.1:${port}`,
      SERVICE_TELEMETRY_ADDR: `127.0.0.1:${telemetryPort}`,
      SERVICE_DATA_DIR: data,
      SERVICE_FLEET: "local",
      SERVICE_ADMIN_EMAILS: ADMIN,
      SERVICE_SEED_TEMPLATES: "packaging/local/templates.json",
      SERVICE_LOCAL_JUPYTER: process.env.TEST_JUPYTER ?? join(ROOT, ".local/jupyter/bin/jupyter-lab"),
      ...settings,
    },
  });
  const ended = once(child, "exit");
  await log.close();
  const launcher = { url: `http://localhost:${port}`, data, processes: () => workshopProcesses(data) };
  test.after(async () => {
    child.kill("SIGTERM");
    const [status] = await ended;
    const text = await readFile(join(data, "launcher.log"), "utf8");
    const left = await launcher.processes();
    left.forEach((process) => killIfThere(process.pid));
    await rm(data, { recursive: true, force: true });
    assert.equal(status, 0, `the launcher did not stop cleanly:\n${text}`);
    assert.deepEqual(left, [], "workshop processes remain after the stop");
  });
  await waitFor("the launcher to be ready", async () => {
    assert.equal(child.exitCode, null, "the launcher ended before it was ready");
    const answer = await fetch(`http://127.0.0.1:${telemetryPort}/readyz`).catch(() => null);
    return answer?.ok;
  });
  return launcher;
}

function killIfThere(pid) {
  try {
    process.kill(pid, "SIGKILL");
  } catch (error) {
    if (error.code !== "ESRCH") throw error;
  }
}

/** Returns the running processes of this launcher's workshops: [{pid, workshop}]. */
async function workshopProcesses(data) {
  const fleet = await readFile(join(data, "fleet/id"), "utf8").catch(() => null);
  if (!fleet) return [];
  const start = `WORKSHOP_LAUNCHER_ID=${fleet.trim()}/`;
  const found = [];
  for (const pid of (await readdir("/proc")).filter((name) => /^\d+$/.test(name))) {
    const environment = await readFile(`/proc/${pid}/environ`, "utf8").catch(() => "");
    const marker = environment.split("\0").find((entry) => entry.startsWith(start));
    if (marker) found.push({ pid: Number(pid), workshop: marker.slice(start.length).split("/")[0] });
  }
  return found;
}

/** Starts a Chromium with the usual command-line switches and these additional switches. */
export async function startBrowser(test, switches = []) {
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    // As root, Chromium starts only without its sandbox.
    chromiumSandbox: process.getuid() !== 0,
    timeout: DEADLINE * 1000,
    args: [
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      ...switches,
    ],
  });
  test.after(() => browser.close());
  return browser;
}

/** Opens a page with this identity header. Without `email`, no header is sent: the development identity applies. */
export async function openPage(test, browser, { email, ...options } = {}) {
  const context = await browser.newContext({
    viewport: { width: 1100, height: 800 },
    locale: "en-GB",
    extraHTTPHeaders: email ? { "X-Auth-Request-Email": email } : {},
    ...options,
  });
  context.setDefaultTimeout(DEADLINE * 1000);
  test.after(() => context.close());
  const page = await context.newPage();
  // Only the console reports violations of the content policy and failed scripts.
  const complaints = [];
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("console", (message) => {
    // Chromium requests the worker of a frame page without the test's header, so the sidecar refuses it.
    const isWorker = email && /\(403\) was received when fetching the script/.test(message.text());
    if (message.type() === "error" && !isWorker) complaints.push(`${message.text()} at ${message.location().url}`);
  });
  return { context, page, complaints };
}

/** With SCREENSHOTS=1 in the environment, saves a screenshot of the page in .local/screenshots, for a manual review. */
export async function screenshot(page, name) {
  if (!process.env.SCREENSHOTS) return;
  await mkdir(SCREENSHOTS, { recursive: true });
  await page.screenshot({ path: join(SCREENSHOTS, `${name}.png`), fullPage: true });
}

/** Sends an API request as this user. Returns the body of the answer. */
export async function send(launcher, method, path, body, email = ADMIN) {
  const headers = { "X-Auth-Request-Email": email, "Content-Type": "application/json" };
  const answer = await fetch(`${launcher.url}/api/v1${path}`, { method, headers, body: body && JSON.stringify(body) });
  const text = await answer.text();
  assert.ok(answer.ok, `${method} ${path}: ${answer.status} ${text}`);
  return text && JSON.parse(text);
}

/** Sends an API request with the session of this page. Returns the body of the answer. */
export async function sendFrom(page, method, path, sent) {
  const answer = await page.evaluate(
    async ([method, path, sent]) => {
      const content = sent && { headers: { "Content-Type": "application/json" }, body: JSON.stringify(sent) };
      const answer = await fetch(`/api/v1${path}`, { method, ...content });
      return { status: answer.status, text: await answer.text() };
    },
    [method, path, sent],
  );
  assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${answer.text}`);
  return answer.text && JSON.parse(answer.text);
}

/** Creates a template. Unless `fields` say otherwise, its app is Python's own web server. Returns its id. */
export async function createTemplate(launcher, name, fields = {}) {
  const command = ["python3", "-m", "http.server", "$(PORT)", "--bind", "127.0.0.1"];
  const image = "docker.io/library/python:3.13-alpine";
  const template = { name, app_type: "custom", image, port: 8000, command, ...fields };
  return (await send(launcher, "POST", "/templates/", template)).template_id;
}

/** Fields of a template whose app listens only when the file exists, so that the test can look at its start. */
export const gated = (file) => ({
  env: { GATE: file },
  command: ["sh", "-c", 'until [ -e "$GATE" ]; do sleep 0.1; done; exec python3 -m http.server "$PORT" --bind 127.0.0.1'],
});

/** Fields of a template whose app is app.py with these pages. */
export const appWith = (pages, env = {}) => ({
  command: ["python3", join(import.meta.dirname, "app.py")],
  env: { PAGES: JSON.stringify(pages), ...env },
});

/** Launches a template of the catalog or of a class as this user. Returns name, origin and frame page of the ready workshop. */
export async function runWorkshop(launcher, template, email, room = "") {
  const { k8s_name: name } = await send(launcher, "POST", `${room}/templates/${template}/launch`, {}, email);
  const row = await waitFor("the workshop to run", async () => {
    const found = await send(launcher, "GET", `/instances/${name}`, undefined, email);
    return found.state === "running" && found;
  });
  const { origin } = new URL(row.url);
  return { name, origin, url: `${origin}/_launcher/frame` };
}

/** Launches a template as this user. Returns the name of the workshop. */
export const launch = async (launcher, template, email) =>
  (await send(launcher, "POST", `/templates/${template}/launch`, {}, email)).k8s_name;

/** Returns the entry of a workshop in the list "My workshops". */
export const workshopEntry = (page, name) =>
  page.getByRole("region", { name: "My workshops" }).getByRole("listitem").filter({ hasText: name });

/** Opens the menu of an entry or row, unless it is open, and returns its panel. */
export async function openMenu(place) {
  const menu = place.locator("details.menu");
  if ((await menu.getAttribute("open")) === null) await menu.locator("summary").click();
  return menu.locator(".menu-panel");
}

/** Launches a template by its card, and returns to the start page before or after the workshop has opened. */
export async function launchFromCard(page, launcher, name) {
  await page.getByRole("button", { name: `Launch ${name}` }).click();
  await page.waitForURL((url) => url.pathname.endsWith("/wait") || url.origin !== launcher.url, { waitUntil: "commit" });
  // The waiting page may open the workshop at the same time, which interrupts the first attempt.
  await page.goto(launcher.url).catch(() => page.goto(launcher.url));
}

/** Sends a request to the origin of this page as this user. */
export const get = (page, path, email, headers = {}) => getFrom(page.url(), path, email, headers);

/** Sends a request to the origin of this address as this user. Node resolves no names below localhost. */
export async function getFrom(address, path, email, headers = {}) {
  const { host, port } = new URL(address);
  const options = { host: "127.0.0.1", port, path, headers: { Host: host, "X-Auth-Request-Email": email, ...headers } };
  const [response] = await once(request(options).end(), "response");
  return { status: response.statusCode, headers: response.headers, text: await text(response) };
}
