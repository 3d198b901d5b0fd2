// Measures the time from *Launch* to the first executed cell of JupyterLab, beside JupyterLab alone, in turn:
// `node --test --test-reporter=spec e2e/browser/measured/first-cell.mjs`. ROUNDS is the number of rounds. No part of the test suite: it asserts
// nothing about time.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { runCell } from "../lab.mjs";
import { ADMIN, freePort, openPage, ROOT, send, startBrowser, startLauncher, waitFor } from "../support.mjs";

const ROUNDS = Number(process.env.ROUNDS ?? 5);
const JUPYTER = process.env.TEST_JUPYTER ?? join(ROOT, ".local/jupyter/bin/jupyter-lab");
const CARD = '.jp-LauncherCard[data-category="Notebook"]';

/** Waits for the app and runs a cell. Returns the seconds since `start` until each. */
async function work(page, app, start) {
  await app.locator(CARD).first().waitFor();
  const usable = (performance.now() - start) / 1000;
  await runCell(page, app);
  return { usable, computed: (performance.now() - start) / 1000 };
}

/** JupyterLab as the local fleet starts it, in directories of its own. */
async function alone(t, browser) {
  const home = await mkdtemp(join(tmpdir(), "jupyter-alone-"));
  const port = await freePort();
  const variables = ["JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR"];
  const env = { ...process.env, ...Object.fromEntries(variables.map((name) => [name, join(home, name)])) };
  const options = ["ServerApp.open_browser=False", "ServerApp.ip=127.0.0.1", `ServerApp.port=${port}`];
  options.push(`ServerApp.root_dir=${home}`, "ServerApp.allow_root=True", "IdentityProvider.token=");
  const { context, page } = await openPage(t, browser);
  const start = performance.now();
  const lab = spawn(JUPYTER, options.map((option) => `--${option}`), { cwd: home, env, stdio: "ignore" });
  const ended = once(lab, "exit");
  await waitFor("JupyterLab to answer", async () => (await fetch(`http://127.0.0.1:${port}/api`).catch(() => null))?.ok);
  await page.goto(`http://127.0.0.1:${port}/lab`, { waitUntil: "commit" });
  const times = await work(page, page, start);
  await context.close();
  lab.kill("SIGTERM");
  await ended;
  await rm(home, { recursive: true, force: true });
  return times;
}

async function launched(t, browser, launcher) {
  const { context, page } = await openPage(t, browser, { email: ADMIN });
  await page.goto(launcher.url);
  const start = performance.now();
  await page.getByRole("button", { name: "Launch JupyterLab" }).click();
  await page.waitForURL(/\/_launcher\/frame/, { waitUntil: "commit" });
  const opened = (performance.now() - start) / 1000;
  const times = await work(page, page.frameLocator("#app"), start);
  await context.close();
  const [instance] = await send(launcher, "GET", "/instances/");
  await send(launcher, "DELETE", `/instances/${instance.k8s_name}`);
  await waitFor("the end", async () => (await send(launcher, "GET", "/instances/")).length === 0);
  return { opened, ...times };
}

test("time to the first executed cell", async (t) => {
  const launcher = await startLauncher(t);
  const browser = await startBrowser(t);
  const rounds = [];
  // The first round fills the caches.
  for (let round = 0; round <= ROUNDS; round += 1) {
    rounds.push({ launched: await launched(t, browser, launcher), alone: await alone(t, browser) });
  }
  const cell = (values) => {
    const sorted = values.toSorted((a, b) => a - b).map((value) => value.toFixed(2));
    return `${sorted[Math.floor(sorted.length / 2)]} (${sorted[0]}–${sorted.at(-1)})`;
  };
  const column = (pick) => cell(rounds.slice(1).map(pick));
  const row = (what, of) => [what, column((r) => r.launched[of]), column((r) => r.alone[of]), column((r) => r.launched[of] - r.alone[of])];
  console.log("\n| seconds until | from *Launch* | JupyterLab alone | difference |\n|---|---|---|---|");
  console.log(`| the frame page opens | ${column((r) => r.launched.opened)} | | |`);
  for (const cells of [row("JupyterLab is usable", "usable"), row("the first cell is computed", "computed")]) {
    console.log(`| ${cells.join(" | ")} |`);
  }
});
