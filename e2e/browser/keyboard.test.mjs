// Somebody without a mouse: Tab, Enter and nothing else, always seeing where one is.

import assert from "node:assert/strict";
import { test } from "node:test";
import { openPage, screenshot, startBrowser, startLauncher, workshopEntry } from "./support.mjs";

const MOST_STOPS = 60;

/** What has the focus: {text, ring}. */
const focused = (page) =>
  page.evaluate(() => {
    const { activeElement: one } = document;
    const style = getComputedStyle(one);
    const seen = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2;
    return { text: one === document.body ? "" : one.textContent.replace(/\s+/g, " ").trim(), seen };
  });

/** Presses Tab until what matches has the focus; every stop on the way has to be seen. */
async function tabTo(page, text) {
  const passed = [];
  while (passed.length < MOST_STOPS) {
    await page.keyboard.press("Tab");
    const now = await focused(page);
    assert.ok(now.seen || !now.text, `one sees that "${now.text}" has the focus`);
    if (text.test(now.text)) return;
    passed.push(now.text);
  }
  assert.fail(`${text} is not reached: ${passed.join(" | ")}`);
}

test("keyboard only: launch, open, extend, end", async (t) => {
  const launcher = await startLauncher(t);
  const { context, page } = await openPage(t, await startBrowser(t), { email: "alice@example.org" });
  await page.goto(launcher.url);

  await t.test("first Tab stop skips the header", async () => {
    await page.keyboard.press("Tab");
    assert.match((await focused(page)).text, /^Skip to/);
    await page.keyboard.press("Enter");
    await tabTo(page, /./);
    assert.ok(await page.locator("main :focus").count(), "the next stop is in the content");
  });

  await t.test("launch", async () => {
    await tabTo(page, /^Launch Files$/);
    await page.keyboard.press("Enter");
    await workshopEntry(page, "Files").getByRole("link", { name: /^Open/ }).waitFor();
  });

  await t.test("open", async () => {
    await page.goto(launcher.url);
    await tabTo(page, /^Open Files/);
    const [opened] = await Promise.all([context.waitForEvent("page"), page.keyboard.press("Enter")]);
    await opened.getByText("Directory listing").first().waitFor();
    await opened.close();
  });

  await t.test("extend keeps the focus", async () => {
    await tabTo(page, /^Extend until/);
    const before = await page.locator("time[data-countdown]").getAttribute("datetime");
    await page.keyboard.press("Enter");
    const later = page.locator(`time[data-countdown]:not([datetime="${before}"])`);
    await later.waitFor();
    assert.match((await focused(page)).text, /^Extend until|cannot be extended/);
    await screenshot(page, "keyboard-extended");
  });

  await t.test("end after confirmation", async () => {
    page.once("dialog", (dialog) => dialog.accept());
    await tabTo(page, /^End Files$/);
    await page.keyboard.press("Enter");
    await workshopEntry(page, "Files").waitFor({ state: "detached" });
    assert.equal((await focused(page)).text, "My workshops", "one stays where one was");
  });
});
