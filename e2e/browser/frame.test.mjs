// The frame page: the app below a bar with the time left, warnings, Extend in a small window, and Home.

import assert from "node:assert/strict";
import { test } from "node:test";
import { overflow } from "./axe.mjs";
import { startSlide } from "./slide.mjs";
import { appWith, createTemplate, openPage, runWorkshop, screenshot, startBrowser, startLauncher, waitFor } from "./support.mjs";

const ALICE = "alice@example.org";

/** Pages that forbid every frame, as those of RStudio Server do. Each has its path in its title. */
const PAGES = {
  "*": {
    html: "<!doctype html><title>App PATH</title><h1>Guarded app</h1><a href=/next?a=1>Next</a>",
    headers: { "X-Frame-Options": "DENY", "Content-Security-Policy": "frame-ancestors 'none'" },
  },
};

test("frame page shows the app below a bar", async (t) => {
  const launcher = await startLauncher(t);
  const browser = await startBrowser(t);
  // The first warning is shown ten minutes before the end.
  const times = { lifetime_seconds: 605, extension_seconds: 900, max_lifetime_seconds: 7200 };
  const elsewhere = `${await startSlide(t, launcher.url, "Launcher")}notes?page=2`;
  const out = { status: 302, html: "", headers: { Location: elsewhere } };
  const template = await createTemplate(launcher, "Long", { ...appWith({ ...PAGES, "/out": out }), ...times });
  const { context, page: tab } = await openPage(t, browser, { email: ALICE });
  const { name, url } = await runWorkshop(launcher, template, ALICE);
  const complaints = [];
  tab.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
  const bar = tab.getByRole("banner");
  const level = () => tab.evaluate(() => document.body.dataset.level);
  // The app is faster than the script of the page.
  await tab.route(/\/_launcher\/frame\.js/, async (route) => {
    await waitFor("the app to load", () => tab.frames()[1]?.evaluate(() => document.readyState === "complete" && location.href !== "about:blank"));
    await route.continue();
  });
  await tab.goto(url);

  await t.test("app that forbids frames is shown with the focus, and its title is the page's title", async () => {
    await tab.frameLocator("#app").getByRole("heading", { name: "Guarded app" }).waitFor();
    await waitFor("the title of the app", async () => (await tab.title()).endsWith("App /"));
    await waitFor("the focus in the frame", () => tab.evaluate(() => document.activeElement?.id === "app"));
    await screenshot(tab, "frame");
  });

  await t.test("page of another origin cannot show the app in a frame", async (t) => {
    const other = await context.newPage();
    await other.goto(await startSlide(t, tab.url(), "Workshop"));
    await other.evaluate((src) => document.body.append(Object.assign(document.createElement("iframe"), { src })), `${new URL(tab.url()).origin}/`);
    await waitFor("the refusal of the browser", () => other.frames().at(-1).url().startsWith("chrome-error:"));
    await other.close();
  });

  await t.test("address follows the app, and a reload stays there", async () => {
    await tab.frameLocator("#app").getByRole("link", { name: "Next" }).click();
    await tab.waitForURL(/\/_launcher\/frame\?path=\/next%3Fa%3D1$/);
    await tab.reload();
    await waitFor("the title of the app", async () => (await tab.title()).endsWith("App /next?a=1"));
  });

  /** Clicks the link in the note about another site, and waits for its page in a tab of its own. */
  async function openOther(from, name) {
    const note = from.getByRole("status").filter({ hasText: /^A page of another site opens only in a tab of its own: / });
    const link = note.getByRole("link", { name, exact: true });
    await link.waitFor();
    await screenshot(from, "frame-other-site");
    const [other] = await Promise.all([context.waitForEvent("page"), link.click()]);
    await other.waitForURL(elsewhere);
    assert.deepEqual(await other.evaluate(() => [window.opener, document.referrer]), [null, ""]);
    await other.close();
    await note.waitFor({ state: "hidden" });
  }

  await t.test("link to another site opens in a tab, and the frame returns to the page with the link", async () => {
    const inside = tab.frameLocator("#app");
    const added = inside.getByRole("link", { name: "Elsewhere" });
    await inside.locator("body").evaluate((body, href) => {
      body.append(Object.assign(document.createElement("a"), { href, textContent: "Elsewhere" }));
    }, elsewhere);
    await added.click();
    await added.waitFor({ state: "detached" });
    await inside.getByRole("link", { name: "Next" }).waitFor();
    assert.equal(new URL(tab.frames()[1].url()).pathname, "/next");
    await openOther(tab, new URL(elsewhere).host);
  });

  await t.test("page that redirects to another site opens in a tab, and the frame returns", async () => {
    const inside = tab.frameLocator("#app");
    await inside.locator("body").evaluate((body) => body.insertAdjacentHTML("beforeend", "<a href=/out>Out</a>"));
    await inside.getByRole("link", { name: "Out" }).click();
    await openOther(tab, "/out");
    await inside.getByRole("link", { name: "Next" }).waitFor();
    const seen = await tab.evaluate(async () => (await fetch("/requests")).json());
    assert.equal(seen.filter((path) => path === "/out").length, 2);
  });

  await t.test("bar warns ten minutes before the end", async () => {
    await waitFor("the warning", async () => (await level()) === "soon");
    await bar.locator("#warning", { hasText: /^This workshop ends in (10|[5-9]) minutes\. Save your work\.$/ }).waitFor();
    await tab.getByRole("alert").filter({ hasText: /ends in (10|[5-9]) minutes/ }).waitFor({ state: "attached" });
    await screenshot(tab, "frame-soon");
    await tab.setViewportSize({ width: 390, height: 740 });
    await screenshot(tab, "frame-soon-phone");
    assert.ok((await overflow(tab)) <= 0, "expected no page wider than a phone");
    await tab.setViewportSize({ width: 1100, height: 800 });
  });

  await t.test("Extend opens a small window, and the bar shows the new time", async () => {
    const extend = bar.getByRole("link", { name: /^Extend/ });
    const [popup] = await Promise.all([tab.waitForEvent("popup"), extend.click()]);
    assert.equal(popup.url(), `${launcher.url}/instances/${name}/extend`);
    const button = popup.getByRole("button", { name: /^Extend until \d/ });
    await button.waitFor();
    await screenshot(popup, "extend");
    const status = () => tab.evaluate(async () => (await fetch("/_launcher/status")).json());
    const before = (await status()).expires_at;
    await popup.keyboard.press("Enter");
    assert.ok(await popup.getByText("The workshop is extended.").isHidden(), "expected no extension by a key press that the app started");
    assert.equal((await status()).expires_at, before);
    await button.click();
    await popup.getByText("The workshop is extended.").waitFor();
    await screenshot(popup, "extended");
    // The window reports the new end while it is still open.
    await bar.getByText(/^(19|2[0-5]) minutes left$/).waitFor();
    assert.equal(await level(), "");
    // The window may close before the click returns.
    await popup.getByRole("button", { name: "Close this window" }).click().catch(() => {});
    await waitFor("the window to close", () => popup.isClosed());
    // The page says that the workshop is extended before the app's server has the new expiry.
    await waitFor("the new expiry", async () => {
      const after = await status();
      return Date.parse(after.expires_at) - Date.parse(after.now) > 1_100_000;
    });
  });

  await t.test("page of the app cannot extend the workshop or read the launcher", async () => {
    const frame = tab.frames().find((one) => one !== tab.mainFrame());
    const tried = await frame.evaluate(async (address) => {
      const post = { method: "POST", credentials: "include", headers: { "Content-Type": "application/x-www-form-urlencoded" } };
      const attempts = [fetch(address, { ...post, mode: "no-cors" }), fetch(address, { credentials: "include" })];
      return (await Promise.allSettled(attempts)).map((one) => one.value?.type ?? "failed");
    }, `${launcher.url}/instances/${name}/extend`);
    assert.deepEqual(tried.filter((type) => !["opaque", "failed"].includes(type)), []);
    const status = await tab.evaluate(async () => (await fetch("/_launcher/status")).json());
    assert.ok(Date.parse(status.expires_at) - Date.parse(status.now) < 1_600_000, "expected only one extension");
    complaints.length = 0;
  });

  await t.test("Home leads to the launcher's page of the workshop", async () => {
    assert.deepEqual(complaints, [], "expected no script error and no violation of the content policy");
    await bar.getByRole("link", { name: "Home", exact: true }).click();
    await tab.waitForURL(`${launcher.url}/instances/${name}`);
    await tab.getByRole("heading", { name: "Long" }).waitFor();
  });
});
