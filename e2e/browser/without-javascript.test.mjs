// Without JavaScript, the pages work as plain pages and forms.

import assert from "node:assert/strict";
import { test } from "node:test";
import { openPage, screenshot, startBrowser, startLauncher, waitFor, workshopEntry } from "./support.mjs";

test("workshop is launched, opened and ended without JavaScript", async (t) => {
  const launcher = await startLauncher(t);
  const browser = await startBrowser(t);
  const { context, page } = await openPage(t, browser, { email: "alice@example.org", javaScriptEnabled: false });
  const entry = workshopEntry(page, "Files");

  await page.goto(launcher.url);
  assert.equal(await page.getByText("Admin", { exact: true }).count(), 0, "expected no admin badge");
  await page.getByRole("button", { name: "Launch Files" }).click();
  await page.waitForURL(/\/wait$/);
  await screenshot(page, "without-javascript-waiting");
  await page.frameLocator("#app").getByRole("heading", { name: "Directory listing for /" }).waitFor({ timeout: 30_000 });
  const openLink = entry.getByRole("link", { name: /^Open/ });
  await waitFor("the workshop to run", 30, async () => {
    await page.goto(launcher.url);
    return openLink.isVisible();
  });
  await screenshot(page, "without-javascript");

  const [files] = await Promise.all([context.waitForEvent("page"), openLink.click()]);
  await files.frameLocator("#app").getByRole("heading", { name: "Directory listing for /" }).waitFor();
  await files.close();

  await entry.getByRole("button", { name: /^End/ }).click();
  await page.getByRole("heading", { name: /^End “Files”\?$/ }).waitFor();
  await screenshot(page, "end-confirmation");
  await page.getByRole("link", { name: "Keep it" }).click();
  assert.equal((await launcher.processes()).length, 1, "expected the workshop to keep running after Keep it");
  await entry.getByRole("button", { name: /^End/ }).click();
  await page.getByRole("button", { name: "End workshop" }).click();
  await waitFor("the workshop to leave the list", 20, async () => {
    await page.goto(launcher.url);
    return (await entry.count()) === 0;
  });
  assert.deepEqual(await launcher.processes(), []);
});
