// Journeys of students whose work stops: course files do not load, the limit of workshops is reached, a workshop is paused.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { test } from "node:test";
import { overflow, violations } from "./axe.mjs";
import { createTemplate, freePort, openPage, runWorkshop, screenshot, send, startBrowser, startLauncher, waitFor } from "./support.mjs";

const [ALICE, BOB, CAROL] = ["alice@example.org", "bob@example.org", "carol@example.org"];

/** Starts a server for the archive of a course, whose `source` is for a template. It answers 404 while `isMissing` is true. */
async function startCourse(t, launcher) {
  const folder = join(launcher.data, "course");
  await mkdir(folder);
  await writeFile(join(folder, "lesson.txt"), "lesson\n");
  const archive = execFileSync("tar", ["--create", "--gzip", "--directory", folder, "lesson.txt"]);
  const course = { isMissing: true };
  const server = createServer((_, response) => response.writeHead(course.isMissing ? 404 : 200).end(course.isMissing ? "" : archive));
  const port = await freePort();
  await once(server.listen(port, "127.0.0.1"), "listening");
  t.after(() => server.close());
  const sha256 = createHash("sha256").update(archive).digest("hex");
  return Object.assign(course, { source: { kind: "archive", url: `http://127.0.0.1:${port}/course.tar.gz`, sha256, target: "course" } });
}

const app = (page) => page.frameLocator("#app");
const cover = (page) => page.locator("#cover");
const launchButton = (page) => page.getByRole("main").getByRole("button", { name: "Launch", exact: true });

/** Waits for the app in the frame page of a workshop. Returns the origin of the workshop. */
async function isInWorkshop(page) {
  await page.waitForURL((url) => url.pathname === "/_launcher/frame");
  await app(page).getByRole("heading", { name: "Directory listing for /" }).waitFor();
  return new URL(page.url()).origin;
}

test("journeys of students whose work stops", async (t) => {
  const launcher = await startLauncher(t, { SERVICE_MAX_INSTANCES_PER_USER: "1" });
  const browser = await startBrowser(t);

  await t.test("course files that did not load stop the waiting page, which opens the workshop or tries again", async (t) => {
    const course = await startCourse(t, launcher);
    const template = await createTemplate(launcher, "Statistics", { material: { directory: "/work", sources: [course.source] } });
    const { page, complaints } = await openPage(t, browser, { email: ALICE });
    await page.goto(`${launcher.url}/launch/${template}`);
    await launchButton(page).click();
    await page.getByRole("heading", { name: "The course files did not load" }).waitFor();
    await page.getByRole("note").getByText("(404)").waitFor();
    assert.deepEqual(await violations(page), []);
    await screenshot(page, "waiting-material");
    await page.setViewportSize({ width: 390, height: 740 });
    assert.ok((await overflow(page)) <= 0, "expected no page wider than a phone");
    await screenshot(page, "waiting-material-phone");
    await page.setViewportSize({ width: 1100, height: 800 });
    const waiting = page.url();

    await page.getByRole("link", { name: "Open anyway" }).click();
    const first = await isInWorkshop(page);
    const files = app(page).getByRole("link", { name: "course/" });
    assert.equal(await files.count(), 0);
    await page.getByRole("banner").getByText("The course files did not load completely.").waitFor();

    await page.goto(waiting);
    course.isMissing = false;
    await page.getByRole("button", { name: "Try again" }).click();
    // The next workshop opens without another click.
    assert.notEqual(await isInWorkshop(page), first);
    await files.click();
    await app(page).getByRole("link", { name: "lesson.txt" }).waitFor();
    assert.deepEqual(complaints, [], "expected no script error and no violation of the content policy");
  });

  await t.test("launch above the limit lists the workshops, which are opened and ended there", async (t) => {
    const { context, page, complaints } = await openPage(t, browser, { email: BOB });
    const { name, origin } = await runWorkshop(launcher, await createTemplate(launcher, "Amber"), BOB);
    const other = `${launcher.url}/launch/${await createTemplate(launcher, "Basalt")}`;
    await page.goto(other);
    await launchButton(page).click();
    const notice = page.getByRole("alert").filter({ hasText: "You have reached your limit." });
    await notice.getByText("You have 1 workshop. The limit is 1.").waitFor();
    assert.deepEqual(await violations(page), []);
    await screenshot(page, "limit-reached");
    const [tab] = await Promise.all([context.waitForEvent("page"), notice.getByRole("link", { name: /^Open Amber/ }).click()]);
    assert.equal(await isInWorkshop(tab), origin);

    await notice.getByRole("link", { name: "End Amber" }).click();
    await page.getByRole("button", { name: "End workshop" }).click();
    await page.waitForURL(other);
    await cover(tab).getByText("You ended “Amber”.").waitFor();
    // A workshop counts until its programs have ended.
    await waitFor("the end", async () => (await send(launcher, "GET", `/instances/${name}`, undefined, BOB)).state === "terminated");
    await launchButton(page).click();
    assert.notEqual(await isInWorkshop(page), origin);
    const others = complaints.filter((complaint) => !/status of 409 /.test(complaint));
    assert.deepEqual(others, [], "expected no script error and no violation of the content policy");
  });

  await t.test("address and template of a paused workshop lead to its continuation", async (t) => {
    const template = await createTemplate(launcher, "Chalk", { storage: { kind: "kept", path: "/work" } });
    const { page } = await openPage(t, browser, { email: CAROL });
    const { name, origin, url } = await runWorkshop(launcher, template, CAROL);
    const pause = async () => {
      await send(launcher, "POST", `/instances/${name}/suspend`, undefined, CAROL);
      await waitFor("the pause", async () => (await send(launcher, "GET", `/instances/${name}`, undefined, CAROL)).state === "suspended");
    };
    await page.goto(url);
    await pause();
    await cover(page).getByText("“Chalk” is paused.").waitFor();
    await cover(page).getByRole("link", { name: "Resume" }).click();
    await page.waitForURL(`${launcher.url}/instances/${name}`);
    await page.getByRole("button", { name: "Resume Chalk" }).click();
    assert.equal(await isInWorkshop(page), origin);

    await pause();
    await page.goto(`${launcher.url}/launch/${template}`);
    assert.equal(await launchButton(page).count(), 0, "its files belong to the paused workshop");
    await page.getByRole("button", { name: "Resume Chalk" }).click();
    assert.equal(await isInWorkshop(page), origin);
  });
});
