// Automatic checks of a page: accessibility with axe, its width, and its primary actions.

import { createRequire } from "node:module";
import { readFile } from "node:fs/promises";

const AXE = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const ALL = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
/** The rules whose result depends on the colours of a page. */
export const COLOURS = ["color-contrast", "link-in-text-block"];
/** The rules whose result depends on colours, layout and language. */
export const LOOKS = [...COLOURS, "target-size", "scrollable-region-focusable", "html-lang-valid", "valid-lang"];

/**
 * Returns the violations that axe finds on the current page, one line each. `part` is the CSS selector of a part of it,
 * `rules` are the tags or names of rules.
 */
export async function violations(page, part = "html", rules = ALL) {
  if (!(await page.evaluate(() => "axe" in globalThis))) await page.evaluate(AXE);
  const found = await page.evaluate(
    ([part, runOnly]) => globalThis.axe.run(part, { runOnly, resultTypes: ["violations"], iframes: false }),
    [part, rules],
  );
  return found.violations.map(
    (rule) => `${rule.id}: ${rule.help}: ${rule.nodes.map((node) => node.target.join(" ")).join(", ")}`,
  );
}

/** Returns the visible primary actions. A page has at most one, so that people see what to do next. */
export const primaryActions = (page) => page.locator(".button-main:visible").allInnerTexts();

/** Returns by how many pixels the page is wider than the window. */
export const overflow = (page) => page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
