// A student pauses and resumes a workshop with kept files, ends it, downloads the files, and launches it again.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { createTemplate, openMenu, openPage, screenshot, startBrowser, startLauncher, waitFor, workshopEntry } from "./support.mjs";

const NAME = "Penguins";
/** An app that adds a line to a file at each start, and shows the file. */
const COMMAND = ["sh", "-c", 'echo started >> notes.txt; exec python3 -m http.server "$PORT" --bind 127.0.0.1'];

test("files of a student outlive the workshop until the student deletes them", async (t) => {
  const launcher = await startLauncher(t);
  const browser = await startBrowser(t);
  const { page, complaints } = await openPage(t, browser, { email: "alice@example.org" });
  const entry = workshopEntry(page, NAME);
  await createTemplate(launcher, NAME, { command: COMMAND, storage: { kind: "kept", path: "/work" } });

  const opens = () => page.waitForURL((url) => url.origin !== launcher.url);
  /** Checks that the open workshop's file has a line for each start, and returns to the start page. */
  const hasStarted = async (times) => {
    const app = page.frameLocator("#app");
    await app.getByRole("link", { name: "notes.txt" }).click();
    await app.getByText("started").waitFor();
    assert.equal((await app.locator("body").innerText()).trim(), Array(times).fill("started").join("\n"));
    await page.goto(launcher.url);
  };

  await t.test("a second workshop with the same files is not offered", async () => {
    await page.goto(launcher.url);
    await page.getByRole("button", { name: `Launch ${NAME}` }).click();
    await opens();
    await hasStarted(1);
    const another = page.getByRole("button", { name: `Launch another ${NAME}` });
    assert.equal(await another.count(), 0, "expected no button that is always refused");
    await screenshot(page, "kept-work-in-use");
  });

  await t.test("the workshop is paused on the start page, and resumed with its files", async () => {
    page.once("dialog", (dialog) => dialog.accept());
    await (await openMenu(entry)).getByRole("button", { name: `Pause ${NAME}` }).click();
    await entry.getByText("Paused", { exact: true }).waitFor();
    await waitFor("the processes of the workshop to end", async () => (await launcher.processes()).length === 0);
    await screenshot(page, "paused");
    await entry.getByRole("button", { name: `Resume ${NAME}` }).click();
    await page.goto(await entry.getByRole("link", { name: /^Open/ }).getAttribute("href"));
    await hasStarted(2);
  });

  await t.test("the files are downloaded after the end of the workshop", async () => {
    page.once("dialog", (dialog) => dialog.accept());
    await (await openMenu(entry)).getByRole("button", { name: /^End/ }).click();
    await entry.waitFor({ state: "detached" });
    await page.locator("#account > summary").click();
    await page.getByRole("link", { name: "Saved work" }).click();
    await page.getByRole("link", { name: `Delete ${NAME}` }).waitFor();
    await screenshot(page, "saved-work");
    const download = page.getByRole("link", { name: `Download ${NAME}` });
    const [archive] = await Promise.all([page.waitForEvent("download"), download.click()]);
    assert.equal(archive.suggestedFilename(), `${NAME}.tar.gz`);
    const file = execFileSync("tar", ["-xzOf", await archive.path(), "notes.txt"], { encoding: "utf8" });
    assert.equal(file, "started\nstarted\n");
  });

  await t.test("the next launch has the files", async () => {
    await page.goto(launcher.url);
    await page.getByRole("button", { name: `Launch ${NAME}` }).click();
    await opens();
    await hasStarted(3);
    const unexpected = complaints.filter((complaint) => !complaint.includes("409 (Conflict)"));
    assert.deepEqual(unexpected, [], "expected no script error and no violation of the content policy");
  });
});
