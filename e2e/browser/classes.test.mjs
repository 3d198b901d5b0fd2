// A class: an admin names a teacher, the teacher adds students by a table, they launch, and the teacher's board follows them.

import assert from "node:assert/strict";
import { test } from "node:test";
import { overflow, primaryActions, violations } from "./axe.mjs";
import { ADMIN, launchFromCard, openMenu, openPage, screenshot, send, startBrowser, startLauncher, workshopEntry } from "./support.mjs";

const TEACHER = "tina@example.org";
const STUDENTS = ["ada@example.org", "bob@example.org"];
const TABLE = `Vorname;Nachname;E-Mail-Adresse\r\nAda;Lovelace;${STUDENTS[0]}\r\nJörg;Müller;${STUDENTS[1]}\r\nNo;Address;\r\n`;
const LOOKS = [{ colorScheme: "light" }, { colorScheme: "dark" }, { viewport: { width: 360, height: 780 } }];

test("class is started, joined and ended in its room", async (t) => {
  const launcher = await startLauncher(t);
  const browser = await startBrowser(t);
  const { page: admin } = await openPage(t, browser, { email: ADMIN });
  await admin.goto(launcher.url);
  await admin.getByRole("link", { name: "Classes" }).click();
  await admin.getByLabel("Name of the class").fill("Statistics 101");
  await admin.getByLabel("Teachers").fill(TEACHER);
  await admin.getByRole("button", { name: "Create class" }).click();
  await admin.getByRole("heading", { name: "Statistics 101", level: 1 }).waitFor();
  const room = new URL(admin.url()).pathname;
  const command = ["python3", "-m", "http.server", "$(PORT)", "--bind", "127.0.0.1"];
  const template = { name: "Exercise 1", app_type: "custom", image: "example.org/x", port: 8000, command };
  await send(launcher, "POST", `${room}/templates/`, template, TEACHER);

  const { page: teacher, complaints } = await openPage(t, browser, { email: TEACHER });
  await teacher.goto(launcher.url);
  await teacher.getByRole("link", { name: "Statistics 101" }).first().click();
  const file = { name: "list.csv", mimeType: "text/csv", buffer: Buffer.from(TABLE, "latin1") };
  await teacher.getByLabel("Or a file").setInputFiles(file);
  await teacher.getByRole("button", { name: "Check the list" }).click();
  await teacher.getByText("Line 4").waitFor();
  await teacher.emulateMedia({ colorScheme: "dark" });
  await teacher.setViewportSize({ width: 360, height: 780 });
  assert.deepEqual(await violations(teacher), []);
  assert.equal(await overflow(teacher), 0);
  await screenshot(teacher, "roster-preview");
  await teacher.emulateMedia({ colorScheme: "light" });
  await teacher.setViewportSize({ width: 1100, height: 800 });
  await teacher.getByRole("button", { name: "Apply the changes" }).click();
  for (const student of STUDENTS) await teacher.getByRole("row", { name: new RegExp(student) }).waitFor();
  await teacher.getByText("Jörg Müller").first().waitFor();
  await screenshot(teacher, "class-empty");
  await teacher.getByRole("link", { name: "New template" }).click();
  await teacher.getByRole("link", { name: "JupyterLab" }).click();
  await teacher.getByLabel("Name", { exact: true }).fill("Notebooks");
  await teacher.getByRole("button", { name: "Create template" }).click();
  await teacher.getByRole("heading", { name: "Notebooks" }).waitFor();
  await teacher.getByText("Join link", { exact: true }).click();
  await teacher.getByRole("button", { name: "Create link" }).click();
  await teacher.getByRole("img", { name: "QR code of the join link" }).waitFor();
  const code = (await teacher.locator(".join-letters").textContent()).trim();
  await teacher.goto(launcher.url + room);

  const { page: ada } = await openPage(t, browser, { email: STUDENTS[0] });
  await ada.goto(launcher.url);
  const card = ada.getByRole("listitem").filter({ has: ada.getByRole("heading", { name: "Exercise 1" }) }).last();
  await card.getByText("Statistics 101").waitFor();
  await screenshot(ada, "class-student");
  await launchFromCard(ada, launcher, "Exercise 1");
  await workshopEntry(ada, "Exercise 1").getByRole("link", { name: /^Open/ }).waitFor();

  // The board changes without an action of the teacher.
  const row = teacher.getByRole("row", { name: new RegExp(STUDENTS[0]) });
  await row.getByRole("button", { name: /^Extend/ }).waitFor();
  await (await openMenu(row)).getByRole("link", { name: `End ${STUDENTS[0]}` }).waitFor();
  await teacher.keyboard.press("Escape");
  const check = async (email, pages) => {
    for (const look of LOOKS) {
      const { page } = await openPage(t, browser, { email, ...look });
      for (const [name, path] of Object.entries(pages)) {
        await page.goto(launcher.url + path);
        assert.deepEqual(await violations(page), [], `${path} ${JSON.stringify(look)}`);
        assert.equal(await overflow(page), 0, `${path} ${JSON.stringify(look)}`);
        const primary = await primaryActions(page);
        assert.ok(primary.length <= 1, `${path}: expected at most one primary action: ${primary.join(", ")}`);
        await screenshot(page, `class-${name}-${look.colorScheme ?? "phone"}`);
      }
    }
  };
  await check(TEACHER, { room, projector: `${room}/projector`, extend: `${room}/extend`, list: "/classes", start: "/" });
  await check("zoe@example.org", { join: `/join/${code}`, "join-code": "/join", "join-unknown": "/join/aaaaa-aaaaa" });

  // The search and the filter work while typing, and stay when the board updates.
  const other = teacher.getByRole("row", { name: new RegExp(STUDENTS[1]) });
  await teacher.getByLabel("Name or address").fill("ADA@");
  await other.waitFor({ state: "detached" });
  await row.waitFor();
  await teacher.getByLabel("Name or address").fill("");
  await other.waitFor();
  await teacher.getByLabel("State of the members").selectOption("Not here");
  await row.waitFor({ state: "detached" });
  const { page: bob } = await openPage(t, browser, { email: STUDENTS[1] });
  await bob.goto(launcher.url);
  await launchFromCard(bob, launcher, "Exercise 1");
  await other.waitFor({ state: "detached" });
  await teacher.getByText("No member matches.").waitFor();
  await teacher.getByRole("link", { name: /^Show all/ }).click();

  // An action on all workshops, with its report. The projector follows.
  const report = teacher.getByRole("row", { name: new RegExp(STUDENTS[1]) });
  const { page: projector } = await openPage(t, browser, { email: TEACHER });
  await projector.goto(`${launcher.url}${room}/projector`);
  const ready = projector.getByRole("listitem").filter({ hasText: "Ready" });
  await ready.getByText("2", { exact: true }).waitFor();
  await teacher.getByRole("link", { name: "End all", exact: true }).click();
  await teacher.getByRole("button", { name: "End all", exact: true }).click();
  await report.getByText("Ended", { exact: true }).waitFor();
  assert.deepEqual(await violations(teacher), []);
  await screenshot(teacher, "class-report");
  await ready.getByText("0", { exact: true }).waitFor();
  assert.deepEqual(complaints, []);
});
