// The pages work with Tab and Enter only, and the focus is always visible.

import assert from "node:assert/strict";
import { test } from "node:test";
import { openPage, screenshot, startBrowser, startLauncher, workshopEntry } from "./support.mjs";

const MOST_STOPS = 60;

/** Returns the text of the focused element, and whether its focus outline is visible: {text, seen}. */
const focused = (page) =>
  page.evaluate(() => {
    const { activeElement: one } = document;
    const style = getComputedStyle(one);
    const seen = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2;
    return { text: one === document.body ? "" : one.textContent.replace(/\s+/g, " ").trim(), seen };
  });

/** Presses Tab until an element with this text has the focus. Fails if a focus on the way is invisible. */
async function tabTo(page, text) {
  const passed = [];
  while (passed.length < MOST_STOPS) {
    await page.keyboard.press("Tab");
    const now = await focused(page);
    assert.ok(now.seen || !now.text, `expected a visible focus on "${now.text}"`);
    if (text.test(now.text)) return;
    passed.push(now.text);
  }
  assert.fail(`Tab does not reach ${text}: ${passed.join(" | ")}`);
}

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
