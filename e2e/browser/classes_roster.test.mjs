// The roster of a class: a teacher uploads a table, checks its preview, and applies it; with and without scripts.

import assert from "node:assert/strict";
import { test } from "node:test";
import { overflow, violations } from "./axe.mjs";
import { ADMIN, openPage, screenshot, send, startBrowser, startLauncher } from "./support.mjs";

const TEACHER = "tina@example.org";
const TABLE = "Vorname;Nachname;E-Mail-Adresse;Rollen\r\nAda;Lovelace;ada@example.org;Teilnehmer/in\r\nJörg;Müller;jm@example.org;Trainer/in ohne Bearbeitungsrecht\r\nNo;Address;;\r\n";
const LOOKS = [{ colorScheme: "dark" }, { viewport: { width: 360, height: 780 } }, { javaScriptEnabled: false }];

test("uploaded table is previewed and applied", async (t) => {
  const launcher = await startLauncher(t);
  const browser = await startBrowser(t);
  const room = "/classes/statistics";
  await send(launcher, "POST", "/classes/", { name: "Statistics", teachers: [TEACHER] }, ADMIN);
  await send(launcher, "PUT", `${room}/members/gone@example.org`, { role: "student" }, TEACHER);
  for (const [index, look] of LOOKS.entries()) {
    const { page, complaints } = await openPage(t, browser, { email: TEACHER, ...look });
    await page.goto(launcher.url + room);
    const file = page.getByLabel("Or a file");
    if (!(await file.isVisible())) await page.getByText("Add members").click();
    await file.setInputFiles({ name: "list.csv", mimeType: "text/csv", buffer: Buffer.from(TABLE, "latin1") });
    await page.getByRole("button", { name: "Check the list" }).click();
    await page.getByRole("heading", { name: "What the list changes" }).waitFor();
    await page.getByText("Line 4").waitFor();
    if (look.javaScriptEnabled !== false) {
      assert.deepEqual(await violations(page), [], JSON.stringify(look));
      assert.equal(await overflow(page), 0, JSON.stringify(look));
      await screenshot(page, `roster-preview-${look.colorScheme ?? "phone"}`);
    }
    const missing = page.getByRole("checkbox", { name: /gone@example.org/ });
    assert.equal(await page.getByRole("checkbox").count(), index < 2 ? 1 : 0);
    if (index === 0) {
      const names = await page.getByRole("listitem").filter({ hasText: "jm@example.org" }).innerText();
      assert.match(names, /Jörg Müller.*Assistant/s);
      await page.getByRole("button", { name: "Apply the changes" }).click();
    } else if (index === 1) {
      assert.equal(await missing.isChecked(), false);
      await missing.check();
      await page.getByRole("button", { name: "Apply the changes" }).click();
    } else {
      await page.getByText("The list adds and changes no member.").waitFor();
      await page.getByRole("link", { name: "Cancel" }).click();
    }
    await page.getByRole("heading", { name: "Statistics", level: 1 }).waitFor();
    assert.equal(await page.getByText("Jörg Müller").count(), 1);
    assert.equal(await page.getByText("gone@example.org").count() > 0, index === 0);
    assert.deepEqual(complaints, []);
  }
});
