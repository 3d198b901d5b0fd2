// Moves the focus with the Tab key, and checks that the focus is visible.

import assert from "node:assert/strict";

const MOST_STOPS = 60;

/** Returns the text of the focused element, and whether its focus outline is visible: {text, seen}. */
export const focused = (page) =>
  page.evaluate(() => {
    const { activeElement: one } = document;
    const style = getComputedStyle(one);
    const seen = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2;
    return { text: one === document.body ? "" : one.textContent.replace(/\s+/g, " ").trim(), seen };
  });

/**
 * Presses Tab until the target has the focus: an element with a text that matches a regular expression, or the element of
 * a locator. Fails if a focus on the way is invisible.
 */
export async function tabTo(page, target) {
  const isThere = (now) =>
    target instanceof RegExp ? target.test(now.text) : target.evaluate((node) => node === document.activeElement);
  const passed = [];
  while (passed.length < MOST_STOPS) {
    await page.keyboard.press("Tab");
    const now = await focused(page);
    assert.ok(now.seen || !now.text, `expected a visible focus on "${now.text}"`);
    if (await isThere(now)) return;
    passed.push(now.text);
  }
  assert.fail(`Tab does not reach ${target}: ${passed.join(" | ")}`);
}
