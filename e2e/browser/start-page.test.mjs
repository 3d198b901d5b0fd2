// Automatic features of the start page: search while typing, warning before the expiry, notice of a lost connection, focus.

import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { overflow } from "./axe.mjs";
import { focused, tabTo } from "./keyboard.mjs";
import { createTemplate, gated, launchFromCard, openPage, screenshot, startBrowser, startLauncher, waitFor, workshopEntry } from "./support.mjs";

const ALICE = "alice@example.org";
const BOB = "bob@example.org";
const CAROL = "carol@example.org";
const ERIN = "erin@example.org";

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
  for (const name of ["Amber", "Basalt", "Chalk", "Dolomite", "Slate"]) {
    await createTemplate(launcher, name, { description: `A stone by the name of ${name}.` });
  }
  // The last minute begins soon, so that the warning appears at once.
  await createTemplate(launcher, "Short", { lifetime_seconds: 119, max_lifetime_seconds: 119 });
  const gate = join(launcher.data, "gate-slow");
  await createTemplate(launcher, "Slow", gated(gate));
  const broken = join(launcher.data, "gate-broken");
  const command = ["sh", "-c", 'until [ -e "$GATE" ]; do sleep 0.1; done; exit 3'];
  await createTemplate(launcher, "Broken", { command, env: { GATE: broken } });

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
    assert.ok((await overflow(page)) <= 0, "expected no page wider than a phone");
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

  await t.test("expiry warning appears on the page and as a notification", async (t) => {
    const { page, complaints } = await openPage(t, browser, { email: BOB });
    await watchNotifications(page);
    await page.goto(launcher.url);
    const offer = page.getByRole("button", { name: "Notify me" });
    await offer.click();
    await offer.waitFor({ state: "hidden" });
    await launchFromCard(page, launcher, "Short");
    const entry = workshopEntry(page, "Short");
    await entry.getByText("Save your work!").waitFor();
    await page.waitForFunction(() => /^\(\d+ (minute|seconds)\) /.test(document.title));
    const [only, ...more] = await page.evaluate(() => globalThis.notified);
    assert.match(only.title, /^Short: ends in \d+ (minute|seconds)$/);
    assert.match(only.tag, /^workshop-short-/);
    assert.deepEqual(more, [], "expected only one notification");
    assert.ok(await offer.isHidden(), "expected the button to stay hidden");
    assert.deepEqual(complaints, []);
  });

  await t.test("waiting page of a start that fails leads to the failure", async (t) => {
    const { page, complaints } = await openPage(t, browser, { email: "dave@example.org" });
    await page.goto(launcher.url);
    await page.getByRole("button", { name: "Launch Broken" }).click();
    await page.waitForURL(/\/wait$/);
    await writeFile(broken, "");
    await page.waitForURL(/\/instances\/broken-[a-z0-9]+$/);
    await page.getByText("The workshop's program stopped unexpectedly.").waitFor();
    await page.getByRole("button", { name: "Launch again Broken" }).waitFor();
    await screenshot(page, "failed");
    assert.deepEqual(complaints, []);
  });

  await t.test("Back skips the waiting page", async (t) => {
    const { page } = await openPage(t, browser, { email: "frank@example.org" });
    await page.goto(launcher.url);
    await page.getByRole("button", { name: "Launch Basalt" }).click();
    await page.waitForURL((url) => url.origin !== launcher.url);
    await page.goBack();
    assert.equal(page.url(), `${launcher.url}/`);
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
      addEventListener("beforeunload", () => setTimeout(leave)); // pacing: after the event
      fail();
    });
    await waitFor("the page to check the session", () => asked.length === 1);
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

  await t.test("focus is visible and stays at its place while the list changes", async (t) => {
    const { page } = await openPage(t, browser, { email: ERIN });
    await page.goto(launcher.url);
    await page.keyboard.press("Tab");
    assert.match((await focused(page)).text, /^Skip to/);
    await page.keyboard.press("Enter");
    await tabTo(page, /./);
    assert.ok(await page.locator("main :focus").count(), "expected the next stop in the content");

    await tabTo(page, /^Extend until/);
    const before = await page.locator("time[data-countdown]").getAttribute("datetime");
    await page.keyboard.press("Enter");
    await page.locator(`time[data-countdown]:not([datetime="${before}"])`).waitFor();
    // The browser may take the focus from a button while the list changes: the page gives it back.
    await waitFor("the focus to be at its place", async () => /^Extend until|cannot be extended/.test((await focused(page)).text));
    await screenshot(page, "keyboard-extended");

    const asked = page.waitForEvent("dialog").then((dialog) => dialog.accept());
    await tabTo(page, /^More actions: Slow$/);
    await page.keyboard.press("Enter");
    await tabTo(page, /^End Slow$/);
    await page.keyboard.press("Enter");
    await asked;
    await workshopEntry(page, "Slow").waitFor({ state: "detached" });
    assert.equal((await focused(page)).text, "My workshops", "expected the focus on the heading of the list");
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
    await notice.waitFor({ state: "hidden" });
  });
});
