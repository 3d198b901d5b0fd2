// Alice follows the link on a slide, logs in, and runs a notebook cell. Bob and an admin follow. Then Alice signs out.

import assert from "node:assert/strict";
import { test } from "node:test";
import { startSlide } from "../slide.mjs";
import { screenshot } from "../support.mjs";
import { api, createNotebooks, LAUNCHER, logIn, openProfile, startChainBrowser, WORKSHOPS } from "./people.mjs";

test("users log in, use workshops and sign out", { timeout: 300_000 }, async (t) => {
  const browser = await startChainBrowser(t);
  const { context, page: alice, complaints } = await openProfile(t, browser);
  let workshop;

  const notebooks = await createNotebooks(t, browser);
  const slide = await startSlide(t, notebooks.link, "Notebooks");

  await t.test("link on a slide leads to the page of its template after the login", async () => {
    await alice.goto(slide);
    await alice.getByRole("link", { name: "Notebooks" }).click();
    await alice.waitForURL(/^http:\/\/dex\.test/);
    await screenshot(alice, "login-form");
    await logIn(alice, "alice@example.org");
    await alice.waitForURL(`${LAUNCHER}/launch/${notebooks.id}`);
    await alice.getByText("alice@example.org").waitFor();
    assert.equal(await alice.getByText("Admin", { exact: true }).count(), 0, "expected no admin badge for Alice");
    await screenshot(alice, "login-came-back");
  });

  await t.test("one click launches JupyterLab, where Alice runs a cell on its own subdomain", async () => {
    await alice.getByRole("button", { name: "Launch" }).click();
    // The waiting page opens the workshop. dex keeps no session, so it asks Alice for a second login for the workshop
    // domain.
    await alice.waitForURL(/\/instances\/notebooks-[a-z0-9]{10}\/wait$/);
    const name = new URL(alice.url()).pathname.split("/")[2];
    await screenshot(alice, "login-waiting");
    const lab = alice;
    await alice.waitForURL(/^http:\/\/dex\.test/, { timeout: 90_000 });
    await logIn(lab, "alice@example.org");
    workshop = new URL(`https://${name}.${WORKSHOPS}/`);
    await lab.waitForURL((url) => url.hostname === workshop.hostname && url.pathname === "/_launcher/frame");
    const app = lab.frameLocator("#app");
    await app.locator('.jp-LauncherCard[data-category="Notebook"]').first().click({ timeout: 60_000 });
    await app.getByText(/\| Idle$/).waitFor({ timeout: 60_000 });
    const cell = app.locator(".jp-Notebook .jp-CodeCell").first();
    await cell.locator(".cm-content").click();
    await lab.keyboard.type("6*7");
    await lab.keyboard.press("Shift+Enter");
    await cell.locator(".jp-OutputArea-output").filter({ hasText: /^\s*42\s*$/ }).waitFor({ timeout: 60_000 });
    await screenshot(lab, "login-jupyterlab");
  });

  await t.test("same link opens the running workshop without a click", async () => {
    const tab = await context.newPage();
    await tab.goto(slide);
    await tab.getByRole("link", { name: "Notebooks" }).click();
    await tab.waitForURL((url) => url.hostname === workshop.hostname && url.pathname === "/_launcher/frame");
    await tab.close();
  });

  await t.test("Bob gets 403 from Alice's workshop and 404 from the API", async (t) => {
    const { page: bob } = await openProfile(t, browser);
    await bob.goto(LAUNCHER);
    await logIn(bob, "bob@example.org");
    await bob.waitForURL(`${LAUNCHER}/`);
    await bob.goto(workshop.href);
    const refused = bob.waitForResponse((response) => response.url() === workshop.href);
    await logIn(bob, "bob@example.org");
    assert.equal((await refused).status(), 403);
    await screenshot(bob, "login-refused");
    const name = workshop.hostname.split(".")[0];
    assert.equal((await api(bob, "GET", `/instances/${name}`)).status, 404);
    for (const address of [workshop.href, `https://nothing-abcdefghij.${WORKSHOPS}/`]) {
      await bob.goto(address);
      await bob.getByRole("link", { name: "Back to the launcher" }).click();
      await bob.waitForURL(`${LAUNCHER}/`);
    }
  });

  await t.test("admin sees the instances of all users and the admin badge", async (t) => {
    const { page: admin } = await openProfile(t, browser);
    await admin.goto(`${LAUNCHER}/admin/instances`);
    await logIn(admin, "admin@example.org");
    await admin.waitForURL(`${LAUNCHER}/admin/instances`);
    await admin.getByText("Admin", { exact: true }).waitFor();
    await admin.getByRole("row", { name: /alice@example\.org/ }).first().waitFor();
    await screenshot(admin, "login-admin");
  });

  await t.test("tab that was open during the sign-out redirects to the login", async () => {
    await alice.goto(LAUNCHER);
    const old = await context.newPage();
    await old.goto(LAUNCHER);
    await alice.getByRole("link", { name: "Sign out" }).click();
    await alice.waitForURL(`${LAUNCHER}/signed-out`);
    await alice.getByRole("heading", { name: "You are signed out" }).waitFor();
    await screenshot(alice, "login-signed-out");
    const names = (await context.cookies()).filter((cookie) => /oauth2_proxy(_workshops)?$/.test(cookie.name));
    assert.deepEqual(names, [], "expected no session cookie of launcher or workshops");
    // The tab redirects when its event stream is refused, or at the next click. The click may therefore fail.
    await old.getByRole("link", { name: "History" }).click({ timeout: 5_000 }).catch(() => {});
    await old.waitForURL(/^http:\/\/dex\.test/);
    await alice.getByRole("link", { name: "Sign in again" }).click();
    await alice.waitForURL(/^http:\/\/dex\.test/);
    // Chromium reports two expected errors: status 401 of the signed-out page, and of the refresh in the old tab.
    const others = complaints.filter((complaint) => !/ status of 401 .*\/(signed-out|fragments\/workshops)$/.test(complaint));
    assert.deepEqual(others, [], "expected no script error, no failed request, no violation of the content policy");
  });
});
