// A login provider that keeps sessions: after the login at the launcher, a workshop needs no second login.

import assert from "node:assert/strict";
import { test } from "node:test";
import { startSlide } from "../slide.mjs";
import { screenshot } from "../support.mjs";
import { api, createNotebooks, LAUNCHER, logIn, openProfile, startChainBrowser } from "./people.mjs";

const ECHO = "01980000-0000-7000-8000-000000000002";

/** Records the URL of each login form that the provider shows in any tab of this profile. */
function countForms(context) {
  const shown = [];
  context.on("response", (response) => {
    const isForm = response.url().startsWith("http://sso.test:5557/login/") && response.request().method() === "GET";
    if (isForm) shown.push(response.url());
  });
  return shown;
}

/** Logs in at the launcher, launches a workshop, and opens it. Returns the request that the app received. */
async function signInAndOpen(t, browser, email) {
  const { context, page, complaints } = await openProfile(t, browser);
  const forms = countForms(context);
  await page.goto(`${LAUNCHER}/launch/${ECHO}`);
  await logIn(page, email);
  await page.waitForURL(`${LAUNCHER}/launch/${ECHO}`);
  await page.getByRole("button", { name: "Launch" }).click();
  // The waiting page opens the workshop: neither a click nor a login is needed.
  await page.waitForURL((url) => url.hostname.endsWith(".workshops.test"), { timeout: 60_000 });
  const asked = JSON.parse(await page.frameLocator("#app").locator("body").innerText());
  await screenshot(page, `single-sign-on-${email.split("@")[0]}`);
  assert.equal(forms.length, 1, `expected one login form: ${forms}`);
  assert.deepEqual(complaints, [], "expected no script error and no violation of the content policy");
  return { context, page, asked };
}

test("one login opens the launcher and the workshops", { timeout: 300_000 }, async (t) => {
  const browser = await startChainBrowser(t);

  await t.test("Alice opens her workshop without a second login", async (t) => {
    const { page, asked } = await signInAndOpen(t, browser, "alice@example.org");
    assert.equal(asked.app, "http");
    assert.equal((await api(page, "GET", "/me")).body.email, "alice@example.org");
  });

  await t.test("link on a slide leads to a notebook with one login and one click", async (t) => {
    const { link } = await createNotebooks(t, browser);
    const { context, page, complaints } = await openProfile(t, browser);
    const forms = countForms(context);
    await page.goto(await startSlide(t, link, "Notebooks"));
    await page.getByRole("link", { name: "Notebooks" }).click();
    await logIn(page, "alice@example.org");
    await page.waitForURL(/^https:\/\/launcher\.test\/launch\//);
    await page.getByRole("button", { name: "Launch" }).click();
    await page.waitForURL(/\/wait$/);
    await page.waitForURL(/\.workshops\.test\/_launcher\/frame/, { timeout: 90_000 });
    await page.frameLocator("#app").locator('.jp-LauncherCard[data-category="Notebook"]').first().waitFor({ timeout: 60_000 });
    await screenshot(page, "single-sign-on-notebook");
    assert.equal(forms.length, 1, `expected one login form: ${forms}`);
    assert.deepEqual(complaints, [], "expected no script error and no violation of the content policy");
  });

  await t.test("user with 600 groups opens a workshop with split session cookies", async (t) => {
    const { context, asked } = await signInAndOpen(t, browser, "many@example.org");
    assert.equal(asked.app, "http");
    for (const session of ["__Host-_oauth2_proxy", "__Secure-_oauth2_proxy_workshops"]) {
      const isPart = ({ name }) => name.startsWith(`${session}_`) && /_\d+$/.test(name);
      const parts = (await context.cookies()).filter(isPart);
      const bytes = parts.reduce((sum, { value }) => sum + value.length, 0);
      assert.ok(parts.length > 2 && bytes > 8192, `${session} has ${parts.length} parts and ${bytes} bytes`);
    }
  });
});
