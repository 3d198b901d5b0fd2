// The frame page of a workshop that starts to paint, crashes, fails or ends: nothing is silent, and nobody types into a dead app.

import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { overflow, violations } from "./axe.mjs";
import { ADMIN, appWith, createTemplate, openPage, runWorkshop, screenshot, send, startBrowser, startLauncher, waitFor } from "./support.mjs";

const ALICE = "alice@example.org";
const NAME = 'Maps & "graphs"';

const PAGES = { "*": "<!doctype html><title>Field</title><h1>App</h1><textarea></textarea>" };

const cover = (tab) => tab.locator("#cover");
const title = (tab, text) => cover(tab).getByRole("heading", { name: text, exact: true });
const end = (launcher, name, email) => send(launcher, "DELETE", `/instances/${name}`, undefined, email);

test("frame page tells what happens to the workshop", async (t) => {
  const launcher = await startLauncher(t);
  const browser = await startBrowser(t);
  const gate = join(launcher.data, "gate");
  const template = await createTemplate(launcher, NAME, appWith(PAGES, { GATE: gate }));
  const { context, page, complaints } = await openPage(t, browser, { email: ALICE });

  await t.test("name of the workshop is shown until the app paints", async () => {
    const { name, url } = await runWorkshop(launcher, template, ALICE);
    await page.goto(url, { waitUntil: "commit" });
    const skeleton = page.locator("#skeleton");
    await skeleton.getByText(NAME).waitFor();
    await screenshot(page, "frame-loading");
    await writeFile(gate, "");
    await skeleton.waitFor({ state: "hidden" });
    await page.frameLocator("#app").getByRole("heading", { name: "App" }).waitFor();
    await page.getByRole("banner").getByText(NAME, { exact: true }).waitFor();
    await waitFor("the focus in the frame", () => page.evaluate(() => document.activeElement?.id === "app"));
    await page.keyboard.press("Tab");
    await page.keyboard.type("work");
    assert.equal(await page.frameLocator("#app").locator("textarea").inputValue(), "work", "expected the app's focus");
    await screenshot(page, "frame-named");
    await end(launcher, name, ALICE);
    await title(page, "No workshop here now").waitFor();
    await cover(page).getByText(`You ended “${NAME}”.`).waitFor();
  });

  await t.test("an admin's end covers the app, which takes no input any more", async (t) => {
    const { name, url } = await runWorkshop(launcher, template, ALICE);
    await page.goto(url);
    const field = page.frameLocator("#app").locator("textarea");
    await field.fill("work");
    const ended = Date.now();
    await end(launcher, name, ADMIN);
    await cover(page).waitFor();
    t.diagnostic(`from the end to the covered app: ${Date.now() - ended} ms`);
    await title(page, "No workshop here now").waitFor();
    t.diagnostic(`from the end to the reason: ${Date.now() - ended} ms`);
    await cover(page).getByText(`An admin ended “${NAME}”.`).waitFor();
    await cover(page).getByText("The files of this workshop are deleted.").waitFor();
    await cover(page).getByText(/^It ended at .*\d:\d\d/).waitFor();
    assert.ok(!(await cover(page).textContent()).includes("{time}"), "expected a local time");
    await page.keyboard.type("lost");
    assert.equal(await field.inputValue(), "work", "expected no input into the app");
    assert.ok(await page.evaluate(() => document.getElementById("app").inert));
    assert.deepEqual(await violations(page), []);
    await screenshot(page, "frame-ended");
    await page.emulateMedia({ colorScheme: "dark" });
    await screenshot(page, "frame-ended-dark");
    await page.emulateMedia({ colorScheme: "light" });
    await page.setViewportSize({ width: 390, height: 740 });
    await screenshot(page, "frame-ended-phone");
    assert.ok((await overflow(page)) <= 0, "expected no page wider than a phone");
    await page.setViewportSize({ width: 1100, height: 800 });
    assert.equal(await page.getByRole("link", { name: "Launch again" }).getAttribute("href"), `${launcher.url}/launch/${template}`);
    await page.reload();
    await page.getByRole("heading", { name: "No workshop here now" }).waitFor();
    await screenshot(page, "stopped-notice");
    await page.getByRole("link", { name: "Open its page" }).click();
    await page.waitForURL(`${launcher.url}/instances/${name}`);
  });

  await t.test("the end covers the app also if a proxy blocks event streams", async () => {
    const { name, url } = await runWorkshop(launcher, template, ALICE);
    const tab = await context.newPage();
    await tab.route("**/_launcher/events", (route) => route.abort());
    await tab.goto(url);
    await tab.frameLocator("#app").getByRole("heading", { name: "App" }).waitFor();
    await end(launcher, name, ADMIN);
    await title(tab, "No workshop here now").waitFor();
    await cover(tab).getByText(`An admin ended “${NAME}”.`).waitFor();
    await tab.close();
  });

  await t.test("cover has the launcher's reason also if another program answers at the address, as on a cluster", async () => {
    const { name, url } = await runWorkshop(launcher, template, ALICE);
    const tab = await context.newPage();
    const notice = { status: 403, contentType: "text/html", body: "<!doctype html><h1>No workshop of yours here now</h1>" };
    await tab.route("**/_launcher/status", (route) => route.fulfill(notice));
    await tab.goto(url);
    await tab.frameLocator("#app").getByRole("heading", { name: "App" }).waitFor();
    await end(launcher, name, ADMIN);
    await title(tab, "No workshop here now").waitFor();
    await cover(tab).getByText(`An admin ended “${NAME}”.`).waitFor();
    await cover(tab).getByText(/^It ended at .*\d:\d\d/).waitFor();
    await cover(tab).getByRole("link", { name: "Launch again" }).waitFor();
    await tab.close();
  });

  await t.test("bar reports a crash, and a failure covers the app with its reason", async (t) => {
    const { url } = await runWorkshop(launcher, template, ALICE);
    await page.goto(url);
    const crash = () => page.evaluate(() => fetch("/crash").catch(() => {}));
    const crashed = Date.now();
    await crash();
    const text = "The app crashed and was started again. Saved files are still there. Reload this page.";
    await page.locator("#warning", { hasText: text }).waitFor();
    t.diagnostic(`from the crash to the warning: ${Date.now() - crashed} ms`);
    await page.getByRole("alert").filter({ hasText: text }).waitFor({ state: "attached" });
    await screenshot(page, "frame-crash");
    await waitFor("the app", () => page.evaluate(async () => (await fetch("/").catch(() => ({ ok: false }))).ok));
    await page.reload();
    await page.frameLocator("#app").getByRole("heading", { name: "App" }).waitFor();
    await page.locator("#warning", { hasText: text }).waitFor({ state: "detached" });
    await waitFor("the failure", async () => {
      await crash();
      return await title(page, "No workshop here now").isVisible();
    });
    await cover(page).getByText(`“${NAME}” has failed.`).waitFor();
    await cover(page).getByText(/It ended with status 1/).waitFor();
    await screenshot(page, "frame-failed");
  });

  await t.test("frame page has the language that its reader chose in the launcher", async () => {
    const { name } = await runWorkshop(launcher, template, ALICE);
    await page.goto(launcher.url);
    await page.locator("#account > summary").click();
    await page.getByRole("button", { name: "Français" }).click();
    await page.locator('html[lang="fr"]').waitFor();
    await page.goto(`${launcher.url}/instances/${name}/open`);
    await page.locator('html[lang="fr"] #app').waitFor();
    await page.reload();
    await page.locator('html[lang="fr"] #app').waitFor();
    await end(launcher, name, ALICE);
    await title(page, "Aucun atelier ici pour le moment").waitFor();
  });

  const unexpected = complaints.filter((complaint) => !/Failed to load resource|ERR_|status of (4|5)/.test(complaint));
  assert.deepEqual(unexpected, [], "expected no script error and no violation of the content policy");
});
