// A student ends a workshop without a volume, and finds its files under "Saved work".

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { overflow, violations } from "./axe.mjs";
import { ADMIN, launchFromCard, openPage, screenshot, startBrowser, startLauncher, waitFor, workshopEntry } from "./support.mjs";

const NAME = "Penguins";
const STUDENT = "alice@example.org";

/** Creates a template whose app writes a file, and serves its directory. */
const createTemplate = (page, name) =>
  page.evaluate(async (name) => {
    const script = "mkdir -p notes && printf saved > notes/today.txt && exec python3 -m http.server $(PORT) --bind 127.0.0.1";
    const image = "docker.io/library/python:3.13-alpine";
    const body = JSON.stringify({ name, app_type: "custom", image, port: 8000, command: ["sh", "-c", script] });
    const options = { method: "POST", headers: { "Content-Type": "application/json" }, body };
    const answer = await fetch("/api/v1/templates/", options);
    if (answer.status !== 201) throw new Error(await answer.text());
  }, name);

test("files of a workshop without a volume are saved when the student ends it", async (t) => {
  const store = await mkdtemp(join(tmpdir(), "launcher-snapshots-"));
  t.after(() => rm(store, { recursive: true, force: true }));
  const launcher = await startLauncher(t, { SERVICE_SNAPSHOT_STORE: store });
  const browser = await startBrowser(t);
  const { page: setup } = await openPage(t, browser, { email: ADMIN });
  await setup.goto(launcher.url);
  await createTemplate(setup, NAME);
  const { page, complaints } = await openPage(t, browser, { email: STUDENT });
  const entry = workshopEntry(page, NAME);
  let details;

  await t.test("the page of the workshop says for how long its files are saved", async () => {
    await page.goto(launcher.url);
    await launchFromCard(page, launcher, NAME);
    await entry.getByRole("link", { name: /^Open/ }).waitFor({ timeout: 30_000 });
    await entry.getByRole("link", { name: NAME, exact: true }).click();
    details = page.url();
    await page.getByText("Your files are saved for 7 days when the workshop ends.").waitFor();
    await screenshot(page, "snapshot-planned");
  });

  await t.test("the page of the ended workshop leads to its files", async () => {
    await page.getByRole("button", { name: /^End/ }).click();
    await page.getByText("The workshop stops when its files are saved.").waitFor();
    await screenshot(page, "snapshot-end");
    await page.getByRole("button", { name: "End workshop" }).click();
    await page.goto(details);
    await page.getByText("Your files are saved until").waitFor({ timeout: 60_000 });
    await screenshot(page, "snapshot-saved");
    await page.getByRole("note").getByRole("link", { name: "Saved work" }).click();
    await page.waitForURL(/\/work$/);
  });

  await t.test("the files are downloaded", async () => {
    const download = page.getByRole("link", { name: /^Download/ });
    await screenshot(page, "snapshots");
    assert.deepEqual(await violations(page), []);
    const [archive] = await Promise.all([page.waitForEvent("download"), download.click()]);
    assert.equal(archive.suggestedFilename(), `${NAME}.tar.gz`);
    const path = await archive.path();
    const names = execFileSync("tar", ["-tzf", path], { encoding: "utf8" }).trim().split("\n");
    const name = names.find((name) => name.endsWith("notes/today.txt"));
    assert.ok(name, `the archive has ${names}`);
    assert.equal(execFileSync("tar", ["-xzOf", path, name], { encoding: "utf8" }), "saved");
  });

  await t.test("another student does not see them, and the page fits a dark phone", async () => {
    const look = { viewport: { width: 360, height: 740 }, colorScheme: "dark" };
    const { page: other } = await openPage(t, browser, { email: "bob@example.org", ...look });
    await other.goto(`${launcher.url}/work`);
    await other.getByText("save their files here when they end, for 7 days").waitFor();
    assert.equal(await other.getByRole("link", { name: /^Download/ }).count(), 0);
    const path = await page.getByRole("link", { name: /^Download/ }).getAttribute("href");
    assert.equal((await other.goto(launcher.url + path)).status(), 404);

    const { page: admin } = await openPage(t, browser, { email: ADMIN, ...look });
    await admin.goto(`${launcher.url}/admin/work`);
    await admin.getByRole("cell", { name: STUDENT }).waitFor();
    await screenshot(admin, "snapshots-phone");
    assert.deepEqual(await violations(admin), []);
    assert.ok((await overflow(admin)) <= 0, "the page is wider than the window");
  });

  await t.test("the files are deleted after a question", async () => {
    assert.equal((await readdir(store)).length, 1);
    await page.getByRole("link", { name: /^Delete/ }).click();
    await page.getByRole("heading", { name: `Delete the saved work of “${NAME}”?` }).waitFor();
    await screenshot(page, "snapshot-delete");
    await page.getByRole("button", { name: "Delete all files" }).click();
    await page.getByText("There is no saved work yet.").waitFor();
    await page.goto(details);
    await page.getByText("The saved files of this workshop were deleted.").waitFor();
    await waitFor("the archive to be deleted", 60, async () => (await readdir(store)).length === 0);
    assert.deepEqual(complaints, [], "expected no script error and no violation of the content policy");
  });
});
