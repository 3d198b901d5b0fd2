// Automatic features of the start page: search while typing, warning before the expiry, notice of a lost connection.

import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { ADMIN, launchFromCard, openPage, screenshot, startBrowser, startLauncher, waitFor, workshopEntry } from "./support.mjs";

const ALICE = "alice@example.org";
const BOB = "bob@example.org";
const CAROL = "carol@example.org";
const ERIN = "erin@example.org";

/** Creates a template through the API. The page must have an admin's identity. */
const create = (page, template) =>
  page.evaluate(async (template) => {
    const options = { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(template) };
    const answer = await fetch("/api/v1/templates/", options);
    if (answer.status !== 201) throw new Error(await answer.text());
  }, template);

const small = (name, more) => ({
  name,
  app_type: "custom",
  image: "docker.io/library/python:3.13-alpine",
  port: 8000,
  command: ["python3", "-m", "http.server", "$(PORT)", "--bind", "127.0.0.1"],
  ...more,
});

/** Replaces the browser's notifications: the page's notifications are recorded in `notified`. */
const watchNotifications = (page) =>
  page.addInitScript(() => {
    globalThis.notified = [];
    globalThis.Notification = class {
      static get permission() {
        return localStorage.getItem("permission") ?? "default";
      }
      static async requestPermission() {
        localStorage.setItem("permission", "granted");
        return this.permission;
      }
      constructor(title, { tag }) {
        globalThis.notified.push({ title, tag });
      }
    };
  });

test("start page updates and notifies the user", async (t) => {
  const launcher = await startLauncher(t);
  const browser = await startBrowser(t);
  const { page: admin } = await openPage(t, browser, { email: ADMIN });
  await admin.goto(launcher.url);
  for (const name of ["Amber", "Basalt", "Chalk", "Dolomite", "Slate"]) {
    await create(admin, small(name, { description: `A stone by the name of ${name}.` }));
  }
  await create(admin, small("Short", { lifetime_seconds: 119, max_lifetime_seconds: 119 }));

  // The app listens only when this file exists, so that the test can look at its start.
  const gate = join(launcher.data, "gate-slow");
  const command = ["sh", "-c", 'until [ -e "$GATE" ]; do sleep 0.1; done; exec python3 -m http.server "$PORT" --bind 127.0.0.1'];
  await create(admin, small("Slow", { command, env: { GATE: gate } }));
  await create(admin, small("Broken", { command: ["sh", "-c", "sleep 2; exit 3"] }));

  await t.test("search filters the catalog while typing", async (t) => {
    const { page, complaints } = await openPage(t, browser, { email: ALICE });
    await page.goto(launcher.url);
    const cards = page.getByRole("region", { name: "Launch a workshop" }).getByRole("article");
    const all = await cards.count();
    const search = page.getByRole("searchbox", { name: "Search the catalog" });
    await search.pressSequentially("stone bas");
    await page.getByText(`1 of ${all} found`).waitFor();
    assert.equal(await cards.getByRole("heading").textContent(), "Basalt");
    assert.equal(await search.inputValue(), "stone bas", "expected the typed text and the cursor to remain");
    assert.ok(await search.evaluate((input) => input === document.activeElement));
    await screenshot(page, "search-found");
    await page.setViewportSize({ width: 360, height: 740 });
    await screenshot(page, "search-found-phone");
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
    assert.ok(overflow <= 0, `on a phone the page is ${overflow} px too wide`);
    await search.pressSequentially("zzz");
    await page.getByRole("link", { name: `Show all ${all}` }).waitFor();
    await screenshot(page, "search-nothing");
    await search.fill("");
    await cards.nth(all - 1).waitFor();
    await search.fill("amber");
    await page.getByText(`1 of ${all} found`).waitFor();
    await launchFromCard(page, launcher, "Amber");
    await workshopEntry(page, "Amber").waitFor();
    assert.deepEqual(complaints, []);
  });

  await t.test("template's link is copied and its QR code is shown", async (t) => {
    const { page, context, complaints } = await openPage(t, browser, { email: ADMIN });
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.goto(`${launcher.url}/admin/templates`);
    const row = page.getByRole("row", { name: /^Amber/ });
    await row.getByRole("button", { name: "Copy link Amber" }).click();
    await row.getByRole("button", { name: "Link copied Amber" }).waitFor();
    const link = await page.evaluate(() => navigator.clipboard.readText());
    assert.match(link, /\/launch\/[0-9a-f-]{36}$/);
    await screenshot(page, "templates-share");
    await row.getByRole("link", { name: "QR code Amber" }).click();
    await page.getByRole("img", { name: "QR code of the link to this template" }).waitFor();
    assert.equal(new URL(page.url()).pathname, new URL(link).pathname);
    await screenshot(page, "share");
    assert.deepEqual(complaints, []);
  });

  await t.test("expiry warning appears on the page and as a notification", async (t) => {
    const { page, complaints } = await openPage(t, browser, { email: BOB });
    await watchNotifications(page);
    await page.goto(launcher.url);
    const offer = page.getByRole("button", { name: "Notify me" });
    await offer.click();
    await offer.waitFor({ state: "hidden" });
    await launchFromCard(page, launcher, "Short");
    const entry = workshopEntry(page, "Short");
    await entry.getByText("Save your work!").waitFor({ timeout: 30_000 });
    assert.match(await page.title(), /^\(1 minute\) /, "expected the warning in the tab's title");
    const [only, ...more] = await page.evaluate(() => globalThis.notified);
    assert.equal(only.title, "Short: ends in 1 minute");
    assert.match(only.tag, /^workshop-short-/);
    assert.deepEqual(more, [], "expected only one notification");
    assert.ok(await offer.isHidden(), "expected the button to stay hidden");
    assert.deepEqual(complaints, []);
  });

  await t.test("waiting page of a start that fails leads to the failure", async (t) => {
    const { page, complaints } = await openPage(t, browser, { email: "dave@example.org" });
    await page.goto(launcher.url);
    await page.getByRole("button", { name: "Launch Broken" }).click();
    await page.waitForURL(/\/instances\/broken-[a-z0-9]+$/, { timeout: 30_000 });
    await page.getByText("The workshop's program stopped unexpectedly.").waitFor();
    await page.getByRole("button", { name: "Launch again Broken" }).waitFor();
    await screenshot(page, "failed");
    assert.deepEqual(complaints, []);
  });

  await t.test("ready workshop is announced by a page without focus", async (t) => {
    // This user has no other workshop whose end would be announced, too.
    const { page } = await openPage(t, browser, { email: ERIN });
    await watchNotifications(page);
    await page.addInitScript(() => {
      localStorage.setItem("permission", "granted");
      document.hasFocus = () => false;
    });
    await page.goto(launcher.url);
    await launchFromCard(page, launcher, "Slow");
    const entry = workshopEntry(page, "Slow");
    await entry.getByText(/^Starting: waiting for the app to answer/).waitFor();
    await entry.getByText(/^for \d+ (second|minute)/).waitFor();
    await screenshot(page, "starting");
    await writeFile(gate, "");
    await entry.getByRole("link", { name: /^Open/ }).waitFor();
    await page.waitForFunction(() => document.title.includes("Slow: Ready – "));
    assert.equal(await page.getByRole("status").last().textContent(), "Slow: Ready", "expected the announcement in the status region");
    const titles = await page.evaluate(() => globalThis.notified.map((one) => one.title));
    assert.deepEqual(titles.filter((text) => text.startsWith("Slow")), ["Slow: Ready"]);
    await page.evaluate(() => dispatchEvent(new Event("focus")));
    await page.waitForFunction(() => !document.title.includes("Slow"));
  });

  await t.test("session check that fails during a navigation does not interrupt it", async (t) => {
    const { page } = await openPage(t, browser, { email: CAROL });
    await Promise.all([page.waitForResponse("**/fragments/workshops"), page.goto(launcher.url)]);
    // Simulates an expired session. The page's session check gets its 401 while a navigation is in progress.
    const asked = [];
    const heard = new Promise((resolve) =>
      page.route("**/fragments/workshops*", async (route) => {
        asked.push(route);
        const { search } = new URL(route.request().url());
        if (search === "?refused") for (const one of asked) await one.fulfill({ status: 401 });
        if (search === "?heard") resolve(await route.fulfill({ status: 401 }));
      }),
    );
    await page.route("**/history", (route) => heard.then(() => route.continue()));
    await page.evaluate(() => {
      const fail = () => document.dispatchEvent(new Event("htmx:response:error"));
      const leave = async () => {
        fail();
        // After the answer to this request, the page has handled the 401 of its session check.
        await fetch("/fragments/workshops?refused");
        await fetch("/fragments/workshops?heard");
      };
      addEventListener("beforeunload", () => setTimeout(leave));
      fail();
    });
    await waitFor("the page to check the session", 20, () => asked.length === 1);
    await page.getByRole("link", { name: "History" }).click({ noWaitAfter: true });
    await page.waitForURL("**/history");
    assert.equal(asked.length, 3, "expected no further session check during the navigation");
  });

  await t.test("print layout has no buttons and no navigation", async (t) => {
    const { page } = await openPage(t, browser, { email: ERIN });
    await page.goto(launcher.url);
    await page.emulateMedia({ media: "print", colorScheme: "dark" });
    await workshopEntry(page, "Slow").getByText("Ready").waitFor();
    assert.equal(await page.getByRole("button").count(), 0);
    assert.equal(await page.getByRole("navigation").count(), 0);
    const ink = await page.getByRole("heading", { name: "My workshops" }).evaluate((one) => getComputedStyle(one).color);
    assert.match(ink, /^rgb\((\d\d?), (\d\d?), (\d\d?)\)$/, "expected dark text in print, independent of the colour scheme");
    await screenshot(page, "print");
  });

  await t.test("lost connection shows a notice until the connection is restored", async (t) => {
    const { context, page } = await openPage(t, browser, { email: ALICE });
    // The response of a stream that is being opened would end the notice.
    await page.addInitScript(() => document.addEventListener("htmx:sse:after:connection", () => (window.isConnected = true)));
    await page.goto(launcher.url);
    await page.waitForFunction(() => window.isConnected);
    const notice = page.getByText("Connection lost");
    assert.ok(await notice.isHidden());
    await context.setOffline(true);
    await notice.waitFor();
    await screenshot(page, "offline");
    await context.setOffline(false);
    await notice.waitFor({ state: "hidden", timeout: 90_000 });
  });
});
