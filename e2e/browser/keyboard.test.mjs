// The pages work with Tab and Enter only, and the focus is always visible.

import assert from "node:assert/strict";
import { test } from "node:test";
import { focused, tabTo } from "./keyboard.mjs";
import { openPage, screenshot, startBrowser, startLauncher, workshopEntry } from "./support.mjs";

test("workshop is launched, opened, extended and ended with the keyboard only", async (t) => {
  const launcher = await startLauncher(t);
  const { context, page } = await openPage(t, await startBrowser(t), { email: "alice@example.org" });
  await page.goto(launcher.url);

  await t.test("first Tab stop is a link that skips the header", async () => {
    await page.keyboard.press("Tab");
    assert.match((await focused(page)).text, /^Skip to/);
    await page.keyboard.press("Enter");
    await tabTo(page, /./);
    assert.ok(await page.locator("main :focus").count(), "expected the next stop in the content");
  });

  await t.test("Enter on Launch launches the workshop", async () => {
    await tabTo(page, /^Launch Files$/);
    await page.keyboard.press("Enter");
    await page.frameLocator("#app").getByText("Directory listing").first().waitFor();
    assert.notEqual(new URL(page.url()).origin, launcher.url, "expected the workshop to open without another key");
  });

  await t.test("Enter on Open opens the workshop", async () => {
    await page.goto(launcher.url);
    await tabTo(page, /^Open Files/);
    const [opened] = await Promise.all([context.waitForEvent("page"), page.keyboard.press("Enter")]);
    await opened.frameLocator("#app").getByText("Directory listing").first().waitFor();
    await opened.close();
  });

  await t.test("Enter on Extend moves the expiry and keeps the focus", async () => {
    await tabTo(page, /^Extend until/);
    const before = await page.locator("time[data-countdown]").getAttribute("datetime");
    await page.keyboard.press("Enter");
    const later = page.locator(`time[data-countdown]:not([datetime="${before}"])`);
    await later.waitFor();
    assert.match((await focused(page)).text, /^Extend until|cannot be extended/);
    await screenshot(page, "keyboard-extended");
  });

  await t.test("Enter on End ends the workshop after confirmation", async () => {
    page.once("dialog", (dialog) => dialog.accept());
    await tabTo(page, /^End Files$/);
    await page.keyboard.press("Enter");
    await workshopEntry(page, "Files").waitFor({ state: "detached" });
    assert.equal((await focused(page)).text, "My workshops", "expected the focus on the heading of the list");
  });
});
