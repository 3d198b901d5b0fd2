// A login provider that keeps sessions: a user with many groups gets from a slide to a workshop with one login and one click.

import assert from "node:assert/strict";
import { test } from "node:test";
import { startSlide } from "../slide.mjs";
import { screenshot } from "../support.mjs";
import { createTemplate, ECHO, LAUNCHER, logIn, openProfile, startChainBrowser } from "./people.mjs";

test("one login and one click open a workshop with split session cookies", async (t) => {
  const browser = await startChainBrowser(t);
  const { id, link } = await createTemplate(t, browser, ECHO);
  const { context, page, complaints } = await openProfile(t, browser);
  const forms = [];
  context.on("response", (response) => {
    const isForm = response.url().startsWith("http://sso.test:5557/login/") && response.request().method() === "GET";
    if (isForm) forms.push(response.url());
  });
  await page.goto(await startSlide(t, link, "Notebooks"));
  await page.getByRole("link", { name: "Notebooks" }).click();
  await logIn(page, "many@example.org");
  await page.waitForURL(`${LAUNCHER}/launch/${id}`);
  await page.getByRole("button", { name: "Launch" }).click();
  // The waiting page opens the workshop: neither a click nor a login is needed.
  await page.waitForURL(/\.workshops\.test\/_launcher\/frame/);
  const asked = JSON.parse(await page.frameLocator("#app").locator("body").innerText());
  await screenshot(page, "single-sign-on");
  assert.equal(asked.app, "http");
  assert.equal(forms.length, 1, `expected one login form: ${forms}`);
  assert.deepEqual(complaints, [], "expected no script error and no violation of the content policy");
  for (const session of ["__Host-_oauth2_proxy", "__Secure-_oauth2_proxy_workshops"]) {
    const isPart = ({ name }) => name.startsWith(`${session}_`) && /_\d+$/.test(name);
    const parts = (await context.cookies()).filter(isPart);
    const bytes = parts.reduce((sum, { value }) => sum + value.length, 0);
    assert.ok(parts.length > 2 && bytes > 8192, `${session} has ${parts.length} parts and ${bytes} bytes`);
  }
});
