// The quickstart: the student launches JupyterLab and runs a cell, the teacher sees the workshop, the student signs out.
// Chromium itself resolves the names, which are all below localhost.

import { test } from "node:test";
import { screenshot, startBrowser } from "../support.mjs";
import { runCell } from "../lab.mjs";
import { logIn, openProfile, signOut } from "./people.mjs";

const LAUNCHER = "http://launcher.localhost:8080";
const PROVIDER = /^http:\/\/login\.localhost:8080\/dex\//;
const STUDENT = "student@example.org";
const TEACHER = "teacher@example.org";

test("student and teacher use the quickstart", async (t) => {
  const browser = await startBrowser(t);
  const { page: student, complaints } = await openProfile(t, browser);

  await t.test("student logs in at Dex, launches the seeded JupyterLab and runs a cell", async () => {
    await student.goto(LAUNCHER);
    await logIn(student, STUDENT, PROVIDER);
    await student.waitForURL(`${LAUNCHER}/`);
    await student.getByRole("button", { name: "Launch JupyterLab" }).click();
    // The waiting page opens the workshop. Dex keeps no session, so it asks for a second login.
    await logIn(student, STUDENT, PROVIDER);
    await student.waitForURL(/^http:\/\/jupyterlab-[a-z0-9]{10}\.workshops\.localhost:8080\/_launcher\/frame/);
    await runCell(student);
    await screenshot(student, "quickstart-jupyterlab");
  });

  await t.test("teacher is an admin and sees the workshop of the student", async (t) => {
    const { page: teacher } = await openProfile(t, browser);
    await teacher.goto(`${LAUNCHER}/admin/instances`);
    await logIn(teacher, TEACHER, PROVIDER);
    await teacher.waitForURL(`${LAUNCHER}/admin/instances`);
    await teacher.locator("#account > summary").click();
    await teacher.getByText("Admin", { exact: true }).waitFor();
    await teacher.getByRole("row", { name: new RegExp(STUDENT) }).first().waitFor();
  });

  await t.test("student signs out of launcher and workshops", () => signOut(student, LAUNCHER, complaints));
});
