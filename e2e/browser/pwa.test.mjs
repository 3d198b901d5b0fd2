// An app with a service worker that answers every page of its origin from its cache: the bar stays.

import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { build } from "vite";
import { VitePWA } from "vite-plugin-pwa";
import { ADMIN, createTemplate, launch, openPage, send, startBrowser, startLauncher, waitFor } from "./support.mjs";

/** Builds the app with the defaults of its tools. Returns its folder. */
async function buildApp(test) {
  const outDir = await mkdtemp(join(tmpdir(), "launcher-pwa-"));
  test.after(() => rm(outDir, { recursive: true, force: true }));
  const plugins = [VitePWA({ registerType: "autoUpdate", manifest: { name: "Offline notes" } })];
  const root = join(import.meta.dirname, "apps/pwa");
  await build({ root, configFile: false, plugins, logLevel: "warn", build: { outDir, emptyOutDir: true } });
  return outDir;
}

test("bar stays although a worker of the app answers all pages", async (t) => {
  const folder = await buildApp(t);
  // The browser's requests for the script of a worker have no header of the test.
  const launcher = await startLauncher(t, { SERVICE_REQUIRE_AUTHENTICATION: "false", SERVICE_DEV_IDENTITY: ADMIN });
  const browser = await startBrowser(t);
  const command = ["python3", "-m", "http.server", "$(PORT)", "--bind", "127.0.0.1", "--directory", folder];
  const name = await launch(launcher, await createTemplate(launcher, "Notes", { command }), ADMIN);
  const row = await waitFor("the workshop to run", async () => {
    const found = await send(launcher, "GET", `/instances/${name}`);
    return found.state === "running" && found;
  });
  const { context, page, complaints } = await openPage(t, browser);
  const frame = new URL("/_launcher/frame", row.url).href;
  const bar = () => page.getByRole("banner").getByText(/^\d.* left$/).waitFor();
  const app = () => page.frameLocator("#app").getByRole("heading", { name: "Offline notes" }).waitFor();
  /** Waits until the app's worker controls the app's page. Without the bar, the app is the page itself. */
  const controlled = () =>
    waitFor("the app's worker", async () => {
      const inside = page.frames().at(-1);
      return inside.evaluate(() => navigator.serviceWorker.controller?.scriptURL.endsWith("/sw.js")).catch(() => false);
    });
  const scopes = () =>
    page.evaluate(async () => (await navigator.serviceWorker.getRegistrations()).map(({ scope }) => new URL(scope).pathname).sort());

  await t.test("after reloads", async () => {
    await page.goto(frame);
    await controlled();
    for (const _ of [1, 2]) {
      await page.reload();
      await bar();
      await app();
      await controlled();
    }
    assert.deepEqual(await scopes(), ["/", "/_launcher/"]);
    const answered = await page.evaluate(() => navigator.serviceWorker.controller.scriptURL);
    assert.equal(new URL(answered).pathname, "/_launcher/worker.js", "expected the frame page's own worker");
  });

  await t.test("in another tab", async () => {
    const tab = await context.newPage();
    await tab.goto(frame);
    await tab.getByRole("banner").getByText(/^\d.* left$/).waitFor();
    await tab.close();
  });

  await t.test("also after the app has unregistered all workers", async () => {
    await page.evaluate(async () => {
      const all = await navigator.serviceWorker.getRegistrations();
      await Promise.all(all.map((registration) => registration.unregister()));
      await navigator.serviceWorker.register("/sw.js");
    });
    await waitFor("the worker of the frame page", async () => (await scopes()).includes("/_launcher/"));
    await page.reload();
    await bar();
    await controlled();
    await page.reload();
    await bar();
  });

  assert.deepEqual(complaints, [], "expected no script error and no violation of the content policy");
});
