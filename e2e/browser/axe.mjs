// Automatic accessibility checks with axe.

import { createRequire } from "node:module";
import { readFile } from "node:fs/promises";

const AXE = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

/** Returns the violations that axe finds on the current page, one line each. `part` is the CSS selector of a part of it. */
export async function violations(page, part = "html") {
  await page.evaluate(AXE);
  const found = await page.evaluate(([part, rules]) => globalThis.axe.run(part, { runOnly: rules }), [part, RULES]);
  return found.violations.map(
    (rule) => `${rule.id}: ${rule.help}: ${rule.nodes.map((node) => node.target.join(" ")).join(", ")}`,
  );
}

/** Returns by how many pixels the page is wider than the window. */
export const overflow = (page) => page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
