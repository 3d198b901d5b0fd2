// A student writes a file in JupyterLab, ends the workshop, downloads the file, launches again and finds the file.

import assert from "node:assert/strict";
import { test } from "node:test";
import { createKeptTemplate, downloadFile, endWorkshop, runCell } from "./lab.mjs";
import { openPage, screenshot, startBrowser, startLauncher, workshopEntry } from "./support.mjs";

const START_SECONDS = 90;
const NAME = "Penguins";

test("files of a student outlive the workshop until the student deletes them", async (t) => {
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

  /** Launches the workshop, runs a cell in a new notebook, and waits for its output. */
  const launchAndRun = async (code, output) => {
    await page.goto(launcher.url);
    await page.getByRole("button", { name: `Launch ${NAME}` }).click();
    await page.waitForURL((url) => url.origin !== launcher.url, { timeout: START_SECONDS * 1000 });
    await page.goto(launcher.url);
    await runCell(context, entry, code, output);
  };

  const end = () => endWorkshop(page, entry);

  await t.test("the page of the template says that files are kept", async () => {
    await page.goto(launcher.url);
    await page.getByRole("link", { name: NAME, exact: true }).click();
    await page.getByText("Your files are kept when the workshop ends").waitFor();
    await screenshot(page, "kept-work-launch");
  });

  await t.test("a second workshop with the same files is refused", async () => {
    await launchAndRun("open('notes.txt', 'w').write('kept')", "4");
    await page.getByRole("button", { name: `Launch another ${NAME}` }).click();
    await page.getByText("Another workshop uses these files.").waitFor();
    await screenshot(page, "kept-work-in-use");
  });

  await t.test("the files are downloaded after the end of the workshop", async () => {
    await end();
    await page.getByRole("link", { name: "Saved work" }).click();
    await page.getByRole("link", { name: `Delete ${NAME}` }).waitFor();
    await screenshot(page, "saved-work");
    assert.equal(await downloadFile(page, NAME, "notes.txt"), "kept");
  });

  await t.test("the next launch has the files", async () => {
    await launchAndRun("open('notes.txt').read()", "kept");
    await end();
  });

  await t.test("the files are deleted after a question", async () => {
    await page.goto(`${launcher.url}/work`);
    await page.getByRole("link", { name: `Delete ${NAME}` }).click();
    await page.getByRole("heading", { name: `Delete the saved work of “${NAME}”?` }).waitFor();
    await screenshot(page, "saved-work-delete");
    await page.getByRole("button", { name: "Delete all files" }).click();
    await page.getByText("There is no saved work yet.").waitFor();
    const unexpected = complaints.filter((complaint) => !complaint.includes("409 (Conflict)"));
    assert.deepEqual(unexpected, [], "expected no script error and no violation of the content policy");
  });
});
