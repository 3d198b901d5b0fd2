// A student launches JupyterLab from the catalog, runs a notebook cell, and ends the workshop, without a page reload.

import assert from "node:assert/strict";
import { test } from "node:test";
import { runCell } from "./lab.mjs";
import { openMenu, openPage, screenshot, startBrowser, startLauncher, waitFor, workshopEntry } from "./support.mjs";

test("JupyterLab workshop launches, computes, is extended and ends", async (t) => {
  const launcher = await startLauncher(t, {
    SERVICE_REQUIRE_AUTHENTICATION: "false",
    SERVICE_DEV_IDENTITY: "dev@example.org",
    SERVICE_ADMIN_EMAILS: "dev@example.org",
  });
  const browser = await startBrowser(t);
  const { context, page, complaints } = await openPage(t, browser);
  const entry = workshopEntry(page, "JupyterLab");
  const openLink = entry.getByRole("link", { name: /^Open/ });

  await t.test("one click on Launch opens the workshop when it is ready", async () => {
    await page.goto(launcher.url);
    await page.getByRole("button", { name: "Launch JupyterLab" }).click();
    await page.waitForURL(/\/wait$/);
    await page.getByRole("progressbar", { name: "Progress of the start" }).waitFor();
    await screenshot(page, "jupyterlab-waiting");
    await page.waitForURL((url) => url.origin !== launcher.url);
    await page.goBack();
    assert.equal(page.url(), `${launcher.url}/`, "expected Back to skip the waiting page");
    await openLink.waitFor();
    await page.evaluate(() => Object.assign(window, { sinceLaunch: true }));
    await screenshot(page, "jupyterlab-running");
  });

  await t.test("notebook cell runs and shows its result", async () => {
    const [lab] = await Promise.all([context.waitForEvent("page"), openLink.click()]);
    await lab.waitForURL(/\/_launcher\/frame/, { waitUntil: "commit" });
    const opened = performance.now();
    const heard = new Promise((resolve) => {
      lab.on("websocket", (socket) => {
        if (/\/api\/kernels\/.*\/channels/.test(socket.url())) socket.once("framereceived", () => resolve(true));
      });
    });
    await lab.frameLocator("#app").locator(".jp-LauncherCard").first().waitFor();
    t.diagnostic(`JupyterLab is usable ${((performance.now() - opened) / 1000).toFixed(1)} s after its frame page opens`);
    await runCell(lab);
    assert.ok(await heard, "expected a message from the kernel on its WebSocket");
    await screenshot(lab, "jupyterlab-notebook");
    await lab.close();
  });

  await t.test("extension moves the expiry by one hour", async () => {
    const end = entry.locator("time[data-countdown]");
    const before = Date.parse(await end.getAttribute("datetime"));
    await entry.getByRole("button", { name: /^Extend/ }).click();
    const moved = async () => Date.parse(await end.getAttribute("datetime")) - before;
    await waitFor("the expiry to move by an hour", async () => (await moved()) === 3_600_000);
    assert.match(await end.textContent(), /^2 hours \d+ minutes$|^3 hours/);
    await screenshot(page, "jupyterlab-extended");
  });

  await t.test("confirmed end removes the workshop from the list", async () => {
    let asked = "";
    page.once("dialog", async (dialog) => {
      asked = dialog.message();
      await dialog.accept();
    });
    await (await openMenu(entry)).getByRole("button", { name: /^End/ }).click();
    await entry.waitFor({ state: "detached" });
    assert.notEqual(asked, "", "expected a confirmation dialog before the end");
    assert.deepEqual(await launcher.processes(), [], "expected no process of the JupyterLab server or its kernel");
    assert.ok(await page.evaluate(() => window.sinceLaunch), "expected no page reload");
    assert.deepEqual(complaints, [], "expected no script error and no violation of the content policy");
  });
});
