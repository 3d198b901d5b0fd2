// The quickstart: the student launches JupyterLab and runs a cell, the teacher sees the workshop, the student signs out.
// Chromium itself resolves the names, which are all below localhost.

import assert from "node:assert/strict";
import { test } from "node:test";
import { openPage, screenshot, startBrowser } from "../support.mjs";
import { logIn } from "./people.mjs";

const LAUNCHER = "http://launcher.localhost:8080";
const PROVIDER = /^http:\/\/login\.localhost:8080\/dex\//;
const STUDENT = "student@example.org";
const TEACHER = "teacher@example.org";

test("student and teacher use the quickstart", { timeout: 240_000 }, async (t) => {
  const browser = await startBrowser(t);
  const { context, page: student, complaints } = await openPage(t, browser);

  await t.test("student logs in at Dex and gets the start page", async () => {
    await student.goto(LAUNCHER);
    await logIn(student, STUDENT, PROVIDER);
    await student.waitForURL(`${LAUNCHER}/`);
    await student.getByText(STUDENT).waitFor();
    assert.equal(await student.getByText("Admin", { exact: true }).count(), 0, "expected no admin badge for the student");
  });

  await t.test("student launches the seeded JupyterLab and runs a cell", async () => {
    await student.getByRole("button", { name: "Launch JupyterLab" }).click();
    // The waiting page opens the workshop. Dex keeps no session, so it asks for a second login.
    await student.waitForURL(PROVIDER, { timeout: 90_000 });
    await logIn(student, STUDENT, PROVIDER);
    await student.waitForURL(/^http:\/\/jupyterlab-[a-z0-9]{10}\.workshops\.localhost:8080\/_launcher\/frame/);
    const app = student.frameLocator("#app");
    await app.locator('.jp-LauncherCard[data-category="Notebook"]').first().click({ timeout: 60_000 });
    await app.getByText(/\| Idle$/).waitFor({ timeout: 60_000 });
    const cell = app.locator(".jp-Notebook .jp-CodeCell").first();
    await cell.locator(".cm-content").click();
    await student.keyboard.type("6*7");
    await student.keyboard.press("Shift+Enter");
    await cell.locator(".jp-OutputArea-output").filter({ hasText: /^\s*42\s*$/ }).waitFor({ timeout: 60_000 });
    await screenshot(student, "quickstart-jupyterlab");
  });

  await t.test("teacher is an admin and sees the workshop of the student", async (t) => {
    const { page: teacher } = await openPage(t, browser);
    await teacher.goto(`${LAUNCHER}/admin/instances`);
    await logIn(teacher, TEACHER, PROVIDER);
    await teacher.waitForURL(`${LAUNCHER}/admin/instances`);
    await teacher.getByText("Admin", { exact: true }).waitFor();
    await teacher.getByRole("row", { name: /student@example\.org/ }).first().waitFor();
  });

  await t.test("student signs out of launcher and workshops", async () => {
    await student.goto(LAUNCHER);
    await student.getByRole("link", { name: "Sign out" }).click();
    await student.waitForURL(`${LAUNCHER}/signed-out`);
    const sessions = (await context.cookies()).filter(({ name }) => /oauth2_proxy(_workshops)?$/.test(name));
    assert.deepEqual(sessions, [], "expected no session cookie of launcher or workshops");
    // The signed-out page has the status 401.
    const others = complaints.filter((complaint) => !/ status of 401 .*\/signed-out$/.test(complaint));
    assert.deepEqual(others, [], "expected no script error, no failed request, no violation of the content policy");
  });
});
