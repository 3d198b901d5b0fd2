// The view of a class: extend all workshops in two actions, live updates, and rows of one line.

import assert from "node:assert/strict";
import { test } from "node:test";
import { ADMIN, launchFromCard, openPage, screenshot, startBrowser, startLauncher, waitFor, workshopEntry } from "./support.mjs";

const WIDE = { email: ADMIN, viewport: { width: 1280, height: 800 } };

test("teacher extends a class, compares it with a list, and finds workshops", async (t) => {
  const launcher = await startLauncher(t);
  const browser = await startBrowser(t);
  const { page: admin, complaints } = await openPage(t, browser, WIDE);
  for (const email of ["ada.lovelace-byron@mathematics.example.org", "bob@example.org"]) {
    const { page, context } = await openPage(t, browser, { email });
    await page.goto(launcher.url);
    await launchFromCard(page, launcher, "Files");
    await workshopEntry(page, "Files").getByRole("link", { name: /^Open/ }).waitFor();
    await context.close();
  }
  await admin.goto(`${launcher.url}/admin/templates`);
  await admin.getByRole("row", { name: /Files/ }).getByRole("link", { name: "Class Files" }).click();
  await admin.getByRole("heading", { name: "Files", level: 1 }).waitFor();
  const address = admin.url();

  await t.test("class is extended until a time in two actions", async () => {
    const times = admin.getByLabel("Extend all workshops until");
    const option = times.locator("option").nth(2);
    const until = await option.getAttribute("value");
    const local = await admin.evaluate((time) => new Intl.DateTimeFormat("en-GB", { timeStyle: "short" }).format(new Date(time)), until);
    assert.ok((await option.textContent()).includes(local), "expected the script to show the local time");
    await times.selectOption({ index: 2 });
    await admin.getByRole("button", { name: "Extend all" }).click();
    await admin.getByRole("heading", { name: /^Extension until/ }).waitFor();
    assert.equal(await admin.getByText(/^Extended until/).count(), 2);
    await screenshot(admin, "class-extended");
    await admin.getByRole("link", { name: "Back to the class" }).click();
    const rows = admin.locator(`td > time[datetime="${until}"]`);
    await waitFor("the new times", 20, async () => (await rows.count()) === 2);
  });

  await t.test("update keeps ticks and the pasted list, and shows a new launch", async () => {
    await admin.getByText("Who has not launched?").click();
    await admin.getByLabel("E-mail addresses of the class").fill("Bob <bob@example.org>; carol@example.org, dan@example.org");
    await admin.getByRole("button", { name: "Compare" }).click();
    const compared = admin.getByRole("region", { name: "Your list" });
    await compared.getByText("dan@example.org").waitFor();
    await admin.getByRole("checkbox", { name: /^Select files-/ }).first().check();
    await admin.getByLabel("E-mail addresses of the class").fill("half typed");
    await screenshot(admin, "class-compared");

    const { page: carol } = await openPage(t, browser, { email: "carol@example.org" });
    await carol.goto(launcher.url);
    await launchFromCard(carol, launcher, "Files");
    await workshopEntry(carol, "Files").getByRole("link", { name: /^Open/ }).waitFor();
    await compared.getByText("carol@example.org").waitFor();
    await admin.getByRole("row", { name: /carol@example\.org/ }).waitFor({ timeout: 40_000 });
    const group = compared.locator("div > div").filter({ has: admin.getByText("carol@example.org") });
    await group.getByRole("heading", { name: /^Ready/ }).waitFor({ timeout: 40_000 });
    assert.equal(await admin.getByRole("checkbox", { name: /^Select files-/, checked: true }).count(), 1);
    assert.equal(await admin.locator("#bulk").getByText("Selected instances: 1").count(), 1);
    assert.equal(await admin.getByLabel("E-mail addresses of the class").inputValue(), "half typed");
    assert.equal(admin.url(), address);
  });

  await t.test("all instances: each row is one line, the search finds, the number of ticks is announced", async () => {
    await admin.goto(`${launcher.url}/admin/instances`);
    await admin.getByText("3 instances", { exact: true }).waitFor();
    await admin.evaluate(() => {
      const fill = (selector, text) => document.querySelectorAll(`tbody ${selector}`).forEach((node) => (node.textContent = text));
      fill("th bdi", "first-name.middle-name.last-name@department.university.example");
      fill(".cell-template bdi", "Introduction to statistics and data science");
      fill("code", "introduction-to-a7k3m9qz2x");
      fill(".cell-state .state", "Failed: the app stopped unexpectedly, and did not start again");
      fill("time", "30 Sept 2026, 23:59");
    });
    const heights = await admin.locator("tbody tr").evaluateAll((rows) => rows.map((row) => row.getBoundingClientRect().height));
    assert.ok(heights.every((height) => height < 48), `expected rows of one line: ${heights}`);
    const hidden = await admin.locator(".table-wrap").evaluate((wrap) => wrap.scrollWidth - wrap.clientWidth);
    assert.ok(hidden <= 0, `the table is ${hidden} px wider than its frame`);
    await screenshot(admin, "all-instances-long");
    await admin.reload();
    await admin.getByRole("checkbox", { name: "Select all" }).check();
    await waitFor("the announcement", 5, async () => (await admin.locator("#announcer").textContent()) === "Selected instances: 3");
    await screenshot(admin, "all-instances-wide");
    await admin.getByLabel("Search").fill("LOVELACE-byron");
    await admin.getByRole("button", { name: "Show" }).click();
    await admin.getByText("1 instance", { exact: true }).waitFor();
    assert.equal(await admin.locator("tbody tr").count(), 1);
  });
  assert.deepEqual(complaints, [], "expected no script error and no violation of the content policy");
});
