// A teacher's pages: from the start page to a template with its QR code, and the live view of a class.

import assert from "node:assert/strict";
import { test } from "node:test";
import { ADMIN, launchFromCard, openMenu, openPage, screenshot, startBrowser, startLauncher, waitFor, workshopEntry } from "./support.mjs";

const CLASS = ["ada.lovelace-byron@mathematics.example.org", "bob@example.org"];

test("teacher shares a template, extends a class, and sees its workshops", async (t) => {
  const launcher = await startLauncher(t);
  const browser = await startBrowser(t);
  const { context, page: admin, complaints } = await openPage(t, browser, { email: ADMIN, viewport: { width: 1280, height: 800 } });
  await admin.clock.install();
  /** Opens the start page of a student, and launches the template "Files". Returns the page and the entry of the workshop. */
  const launchAs = async (email) => {
    const { page } = await openPage(t, browser, { email });
    await page.goto(launcher.url);
    await launchFromCard(page, launcher, "Files");
    const entry = workshopEntry(page, "Files");
    await entry.getByRole("link", { name: /^Open/ }).waitFor();
    return { page, entry };
  };

  await t.test("link of a template is copied", async () => {
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    await admin.goto(`${launcher.url}/admin/templates`);
    const row = admin.getByRole("row", { name: /^Files/ });
    const menu = await openMenu(row);
    await menu.getByRole("button", { name: "Copy link Files" }).click();
    await menu.getByRole("button", { name: "Link copied Files" }).waitFor();
    const link = await admin.evaluate(() => navigator.clipboard.readText());
    assert.match(link, /\/launch\/[0-9a-f-]{36}$/);
    await screenshot(admin, "templates-share");
  });

  const bob = (await Promise.all(CLASS.map(launchAs)))[1];
  await admin.clock.fastForward(15_000);
  await admin.getByRole("row", { name: /^Files/ }).getByRole("cell", { name: "2", exact: true }).waitFor();
  await admin.getByRole("row", { name: /^Files/ }).getByRole("link", { name: "Workshops Files" }).click();
  await admin.getByRole("heading", { name: "Files", level: 1 }).waitFor();

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
    await admin.getByRole("link", { name: "Back to the workshops" }).click();
    const rows = admin.locator(`td > time[datetime="${until}"]`);
    await waitFor("the new times", async () => (await rows.count()) === 2);
  });

  await t.test("update keeps ticks and the pasted list, and shows a new launch", async () => {
    const address = admin.url();
    await admin.getByText("Who has not launched?").click();
    await admin.getByLabel("E-mail addresses").fill("Bob <bob@example.org>; carol@example.org, dan@example.org");
    await admin.getByRole("button", { name: "Compare" }).click();
    const compared = admin.getByRole("region", { name: "Your list" });
    await compared.getByText("dan@example.org").waitFor();
    await admin.getByRole("checkbox", { name: /^Select files-/ }).first().check();
    await admin.getByLabel("E-mail addresses").fill("half typed");
    await screenshot(admin, "workshops-compared");
    await launchAs("carol@example.org");
    // The page asks for the workshops every 15 seconds.
    const answered = admin.waitForResponse((response) => response.request().headers()["hx-request"] === "true");
    await admin.clock.fastForward(15_000);
    await answered;
    await admin.getByRole("row", { name: /carol@example\.org/ }).waitFor();
    const group = compared.locator("div > div").filter({ has: admin.getByText("carol@example.org") });
    await group.getByRole("heading", { name: /^Ready/ }).waitFor();
    assert.equal(await admin.getByRole("checkbox", { name: /^Select files-/, checked: true }).count(), 1);
    assert.equal(await admin.locator("#bulk").getByText("Selected instances: 1").count(), 1);
    assert.equal(await admin.getByLabel("E-mail addresses").inputValue(), "half typed");
    assert.equal(admin.url(), address);
  });

  await t.test("list of all instances has rows of one line, and announces the number of ticks", async () => {
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
    assert.ok(heights.every((height) => height < 56), `expected rows of one line: ${heights}`);
    const hidden = await admin.locator(".table-wrap").evaluate((wrap) => wrap.scrollWidth - wrap.clientWidth);
    assert.ok(hidden <= 0, `the table is ${hidden} px wider than its frame`);
    await screenshot(admin, "all-instances-long");
    await admin.reload();
    await admin.getByRole("checkbox", { name: "Select all" }).check();
    await waitFor("the announcement", async () => (await admin.locator("#announcer").textContent()) === "Selected instances: 3");
  });

  await t.test("workshop that the admin ends leaves the open page of its owner, also the card of its template", async () => {
    const files = bob.page.getByRole("heading", { name: "Files" });
    const card = bob.page.getByRole("region", { name: "Launch a workshop" }).getByRole("listitem").filter({ has: files });
    const ofWorkshop = [card.getByRole("link", { name: /^Open/ }), card.getByText("You have one")];
    for (const part of ofWorkshop) await part.waitFor();
    const row = admin.getByRole("row", { name: /bob@example\.org/ });
    await row.getByRole("link", { name: /^End/ }).click();
    await admin.getByText("bob@example.org").waitFor();
    await admin.getByRole("button", { name: "End workshop" }).click();
    await bob.entry.waitFor({ state: "detached" });
    for (const part of ofWorkshop) await part.waitFor({ state: "detached" });
    await card.getByRole("button", { name: "Launch Files" }).waitFor();
  });
  assert.deepEqual(complaints, [], "expected no script error and no violation of the content policy");
});
