// Ways to activate a link or a button: with the mouse, with a finger, with the keyboard.

import { tabTo } from "./keyboard.mjs";
import { waitFor } from "./support.mjs";

export const mouse = (_, target) => target.click();

export const finger = (_, target) => target.tap();

/** Moves the focus with Tab only, checks that it is visible on the way, and presses Enter. */
export async function keyboard(page, target) {
  await target.waitFor();
  await waitFor("the button to be enabled", () => target.isEnabled());
  if (!(await target.evaluate((node) => node === document.activeElement))) await tabTo(page, target);
  await page.keyboard.press("Enter");
}
