// Pages while the service fails: the page stays usable, and shows which action failed.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import { join } from "node:path";
import { test } from "node:test";
import { createTemplate, freePort, launchFromCard, openPage, screenshot, startBrowser, startLauncher, waitFor, workshopEntry } from "./support.mjs";

const ALICE = "alice@example.org";
// Locks the database against writes until stdin closes. Reads continue.
const LOCK = `
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("BEGIN IMMEDIATE")
print("locked", flush=True)
sys.stdin.read()
`;

/** Locks the launcher's database against writes. Returns a function that releases the lock. */
async function lock(test, launcher) {
  const child = spawn("python3", ["-c", LOCK, join(launcher.data, "launcher.db")], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const ended = once(child, "exit");
  const release = async () => {
    child.stdin.end();
    assert.deepEqual(await ended, [0, null]);
  };
  test.after(release);
  await once(child.stdout, "data");
  return release;
}

/** Refreshes the list of workshops, as a change event does. Returns after the page has processed the answer. */
const ask = (page) =>
  page.evaluate(async () => {
    const done = new Promise((resolve) => document.addEventListener("htmx:finally:request", resolve, { once: true }));
    document.getElementById("my-workshops").dispatchEvent(new Event("workshops-changed"));
    await done;
  });

test("page stays usable while the service fails", async (t) => {
  const launcher = await startLauncher(t);
  const browser = await startBrowser(t);
  const template = await createTemplate(launcher, "Amber");
  const { page } = await openPage(t, browser, { email: ALICE });
  await page.goto(launcher.url);
  await launchFromCard(page, launcher, "Amber");
  const entry = workshopEntry(page, "Amber");
  const extend = entry.getByRole("button", { name: /^Extend until/ });
  await extend.waitFor();
  const notice = page.getByRole("alert");
  let loads = 0;
  page.on("load", () => (loads += 1));
  let fault;
  /** Answers a request as the service did during its outage. */
  const fails = (route) => route.fulfill({ status: 503, contentType: "text/html; charset=utf-8", body: fault });

  await t.test("failed extension shows an error until the extension succeeds", async (t) => {
    const ends = await entry.locator("time[data-countdown]").getAttribute("datetime");
    const release = await lock(t, launcher);
    const answered = page.waitForResponse("**/extend");
    const headers = { "X-Auth-Request-Email": "bob@example.org", "Content-Type": "application/json" };
    const launching = fetch(`${launcher.url}/api/v1/templates/${template}/launch`, { method: "POST", headers, body: "{}" });
    await extend.click();
    const answer = await answered;
    assert.equal(answer.status(), 503);
    const launch = await launching;
    assert.equal(launch.status, 503);
    for (const retry of [launch.headers.get("retry-after"), answer.headers()["retry-after"]]) assert.ok(Number(retry) > 0, retry);
    fault = await answer.text();
    await notice.getByText("The service did not answer.").waitFor();
    await screenshot(page, "not-done");
    await page.setViewportSize({ width: 360, height: 740 });
    await screenshot(page, "not-done-phone");
    await page.setViewportSize({ width: 1100, height: 800 });
    await release();
    await ask(page);
    assert.equal(await entry.locator("time[data-countdown]").getAttribute("datetime"), ends);
    assert.ok(await notice.isVisible(), "expected the notice to survive a refresh of the list");
    await extend.click();
    await waitFor("a later expiry", async () => (await entry.locator("time[data-countdown]").getAttribute("datetime")) !== ends);
    await notice.waitFor({ state: "detached" });
    assert.equal(loads, 0, "expected no page load");
  });

  await t.test("failed refresh leaves the page unchanged and the next refresh succeeds", async () => {
    assert.match(fault, /^<!doctype html>/i);
    await page.route("**/fragments/workshops", fails);
    await ask(page);
    await ask(page);
    await page.unroute("**/fragments/workshops");
    await ask(page);
    await extend.waitFor();
    assert.equal(await notice.count(), 0, "expected no notice after a refresh that the user did not start");
    assert.equal(loads, 0);
    await entry.getByRole("link", { name: /^Open/ }).waitFor();
  });

  await t.test("launch during an outage shows an error, and the next launch succeeds", async () => {
    const launch = page.getByRole("button", { name: /^Launch (another )?Amber/ });
    await page.route("**/launch/*", fails);
    await page.evaluate(() => window.scrollTo(0, 200));
    const place = await page.evaluate(() => window.scrollY);
    const answered = page.waitForResponse("**/launch/*");
    await launch.click();
    assert.equal((await answered).status(), 503);
    await notice.getByText("The service did not answer.").waitFor();
    assert.equal(await page.evaluate(() => window.scrollY), place, "expected the page to keep its place");
    assert.equal(loads, 0, "expected no page load");
    await page.unroute("**/launch/*");
    await launch.click();
    await page.waitForURL((url) => url.origin !== launcher.url);
    await page.frameLocator("#app").getByText("Directory listing").first().waitFor();
  });

  await t.test("launch after the session has ended leads to the page of the template", async (t) => {
    await page.goto(launcher.url);
    const template = new URL(await page.getByRole("link", { name: "Amber", exact: true }).last().getAttribute("href"), launcher.url);
    // Simulates a login proxy: it redirects each request to the login page of another site.
    const port = await freePort();
    const provider = createServer((_, answer) => answer.end("login")).listen(port, "127.0.0.1");
    t.after(() => provider.close());
    const login = `http://127.0.0.1:${port}/login`;
    await page.route(`${launcher.url}/**`, (route) => {
      const path = new URL(route.request().url()).pathname;
      // A refresh of the list, after a change of the workshop, would lead to the login before the click does. The page's
      // own check of the session is a request of the same path, but not by htmx.
      if (path.startsWith("/fragments/") && route.request().headers()["hx-request"]) return route.continue();
      const asked = encodeURIComponent(path);
      return route.fulfill({ status: 302, headers: { Location: `${login}?rd=${asked}` } });
    });
    await page.getByRole("button", { name: /^Launch (another )?Amber/ }).click();
    await page.waitForURL(`${login}?rd=${encodeURIComponent(template.pathname)}`);
  });
});
