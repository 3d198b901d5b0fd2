// Work of a user in a running JupyterLab workshop, and its files after the end.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";

const SLOW = { timeout: 60_000 };

/** Opens the workshop of this entry, runs a cell in a new notebook, and waits for its output. */
export async function runCell(context, entry, code, output) {
  const [lab] = await Promise.all([context.waitForEvent("page"), entry.getByRole("link", { name: /^Open/ }).click()]);
  const app = lab.frameLocator("#app");
  await app.locator('.jp-LauncherCard[data-category="Notebook"]').first().click(SLOW);
  await app.getByText(/\| Idle$/).waitFor(SLOW);
  await app.locator(".jp-Notebook .jp-CodeCell").first().locator(".cm-content").click();
  // Inserts the text at once: typed brackets would get their pairs from the editor.
  await lab.keyboard.insertText(code);
  await lab.keyboard.press("Shift+Enter");
  await app.locator(".jp-OutputArea-output").filter({ hasText: output }).first().waitFor(SLOW);
  await lab.close();
}

/** Ends the workshop of this entry, and waits until the page no longer shows it. */
export async function endWorkshop(page, entry) {
  page.once("dialog", (dialog) => dialog.accept());
  await entry.getByRole("button", { name: /^End/ }).click();
  await entry.waitFor({ state: "detached", timeout: 30_000 });
}

/** Downloads the saved work of this name from the page *Saved work*. Returns the text of the file at this path. */
export async function downloadFile(page, name, path) {
  const download = page.getByRole("link", { name: `Download ${name}` });
  const [archive] = await Promise.all([page.waitForEvent("download"), download.click()]);
  assert.equal(archive.suggestedFilename(), `${name}.tar.gz`);
  return execFileSync("tar", ["-xzOf", await archive.path(), path], { encoding: "utf8" });
}

/** Creates a template with the settings of the seeded JupyterLab template, and with storage. */
export const createKeptTemplate = (page, name) =>
  page.evaluate(async (name) => {
    const templates = await (await fetch("/api/v1/templates/")).json();
    const { app_type, image } = templates.find((template) => template.name === "JupyterLab");
    const body = JSON.stringify({ name, app_type, image, storage: { kind: "kept" } });
    const options = { method: "POST", headers: { "Content-Type": "application/json" }, body };
    const answer = await fetch("/api/v1/templates/", options);
    if (answer.status !== 201) throw new Error(await answer.text());
  }, name);
