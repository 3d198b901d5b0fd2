// A launcher and a Chromium of the tests' own. Whatever a test opens is closed again, however it ends.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { randomInt } from "node:crypto";
import { once } from "node:events";
import { mkdir, mkdtemp, open, readFile, readdir, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { chromium } from "playwright-core";

export const ROOT = resolve(import.meta.dirname, "../..");
export const ADMIN = "admin@example.org";
const PROGRAM = resolve(ROOT, process.env.CARGO_TARGET_DIR ?? "target", "debug/launcher");
const SCREENSHOTS = join(ROOT, ".local/screenshots");

/** Calls look until it returns something truthy, and returns that; fails after so many seconds. */
export async function waitFor(what, seconds, look) {
  const deadline = Date.now() + seconds * 1000;
  for (;;) {
    const found = await look();
    if (found) return found;
    assert.ok(Date.now() < deadline, `waited ${seconds} s in vain for ${what}`);
    await sleep(50);
  }
}

/** A loopback port that nobody listens on, and that nobody is given for an outgoing connection in between. */
export async function freePort() {
  const firstOutgoing = parseInt(await readFile("/proc/sys/net/ipv4/ip_local_port_range", "utf8"), 10);
  for (;;) {
    const port = randomInt(firstOutgoing >> 1, firstOutgoing);
    const server = createServer().listen(port, "127.0.0.1");
    try {
      await once(server, "listening");
    } catch {
      continue; // Somebody listens there.
    }
    server.close();
    await once(server, "close");
    return port;
  }
}

/** `launcher serve` with the templates that `make run` has, on ports and data of its own. */
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
      SERVICE_LOCAL_JUPYTER: join(ROOT, ".local/jupyter/bin/jupyter-lab"),
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
    assert.deepEqual(left, [], "a stopped launcher leaves no process of a workshop behind");
  });
  await waitFor("the launcher to be ready", 30, async () => {
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

/** The processes of this launcher's workshops that run now: [{pid, workshop}]. */
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

/** A Chromium for one test file; with these switches beside the usual ones. */
export async function startBrowser(test, switches = []) {
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    // Chromium refuses to sandbox for root.
    chromiumSandbox: process.getuid() !== 0,
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

/** A page of a person: with this identity header, or with none for the development identity. */
export async function openPage(test, browser, { email, ...options } = {}) {
  const context = await browser.newContext({
    viewport: { width: 1100, height: 800 },
    locale: "en-GB",
    extraHTTPHeaders: email ? { "X-Auth-Request-Email": email } : {},
    ...options,
  });
  context.setDefaultTimeout(20_000);
  test.after(() => context.close());
  const page = await context.newPage();
  // A page that breaks its own content policy, or a script that fails, says so here and nowhere else.
  const complaints = [];
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("console", (message) => {
    if (message.type() === "error") complaints.push(`${message.text()} at ${message.location().url}`);
  });
  return { context, page, complaints };
}

/** Keeps what is to be seen now, for whoever looks at .local/screenshots afterwards. */
export async function screenshot(page, name) {
  await mkdir(SCREENSHOTS, { recursive: true });
  await page.screenshot({ path: join(SCREENSHOTS, `${name}.png`), fullPage: true });
}

/** The entry of a workshop in "My workshops". */
export const workshopEntry = (page, name) =>
  page.getByRole("region", { name: "My workshops" }).getByRole("listitem").filter({ hasText: name });
