// A student pauses a workshop with kept files, resumes it, and finds the file. Then the same without JavaScript.

import assert from "node:assert/strict";
import { test } from "node:test";
import { createKeptTemplate, runCell } from "./lab.mjs";
import { openPage, screenshot, startBrowser, startLauncher, waitFor, workshopEntry } from "./support.mjs";

const START_SECONDS = 90;
const NAME = "Penguins";
const SLOW = { timeout: START_SECONDS * 1000 };

test("a paused workshop is resumed with its files", async (t) => {
  const launcher = await startLauncher(t, {
    SERVICE_REQUIRE_AUTHENTICATION: "false",
    SERVICE_DEV_IDENTITY: "dev@example.org",
    SERVICE_ADMIN_EMAILS: "dev@example.org",
  });
  const browser = await startBrowser(t);
  const { context, page, complaints } = await openPage(t, browser);
  const entry = workshopEntry(page, NAME);
  await page.goto(launcher.url);
  await createKeptTemplate(page, NAME);

  await t.test("the workshop is paused on the start page after a question", async () => {
    await page.goto(launcher.url);
    await page.getByRole("button", { name: `Launch ${NAME}` }).click();
    await page.waitForURL((url) => url.origin !== launcher.url, SLOW);
    await page.goto(launcher.url);
    await runCell(context, entry, "open('notes.txt', 'w').write('kept')", "4");
    page.once("dialog", (dialog) => dialog.accept());
    await entry.getByRole("button", { name: `Pause ${NAME}` }).click();
    await entry.getByText("Paused", { exact: true }).waitFor(SLOW);
    await waitFor("the processes of the workshop to end", 20, async () => (await launcher.processes()).length === 0);
    await screenshot(page, "paused");
  });

  await t.test("a second workshop with the same files is refused, and the first is named", async () => {
    await page.getByRole("button", { name: `Launch another ${NAME}` }).click();
    await page.getByText(/Your paused workshop penguins-.* uses these files\. Resume it/).waitFor();
  });

  await t.test("the resumed workshop has the file", async () => {
    await entry.getByRole("button", { name: `Resume ${NAME}` }).click();
    await entry.getByText("Ready", { exact: true }).waitFor(SLOW);
    await runCell(context, entry, "open('notes.txt').read()", "kept");
  });

  await t.test("pause and resume work without JavaScript", async () => {
    const plain = await openPage(t, browser, { javaScriptEnabled: false });
    await plain.page.goto(launcher.url);
    await plain.page.getByRole("link", { name: NAME, exact: true }).first().click();
    await plain.page.getByRole("button", { name: `Pause ${NAME}` }).click();
    await plain.page.getByRole("heading", { name: `Pause “${NAME}”?` }).waitFor();
    await screenshot(plain.page, "pause-question");
    await plain.page.getByRole("button", { name: "Pause workshop" }).click();
    await plain.page.getByText("Paused", { exact: true }).waitFor(SLOW);
    await plain.page.getByRole("button", { name: `Resume ${NAME}` }).click();
    await plain.page.waitForURL((url) => url.pathname.endsWith("/wait") || url.origin !== launcher.url, SLOW);
    await plain.page.waitForURL((url) => url.origin !== launcher.url, SLOW);
    assert.deepEqual(plain.complaints, []);
  });

  const unexpected = complaints.filter((complaint) => !complaint.includes("409 (Conflict)"));
  assert.deepEqual(unexpected, [], "expected no script error and no violation of the content policy");
});
