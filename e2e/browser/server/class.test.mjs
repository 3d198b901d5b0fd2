// Two students and a teacher on one server: each logs in with a first password, the students open their workshops.

import assert from "node:assert/strict";
import { test } from "node:test";
import { openPage, screenshot, startBrowser } from "../support.mjs";
import { LAUNCHER, SWITCHES, logIn } from "./log-in.mjs";

const ECHO = "01980000-0000-7000-8000-000000000002";

test("a class logs in and works", async (t) => {
  const browser = await startBrowser(t, SWITCHES);
  const open = (t) => openPage(t, browser, { ignoreHTTPSErrors: true });

  for (const name of ["alice", "bob"]) {
    await t.test(`${name} follows a link, logs in and opens a workshop`, async (t) => {
      const { page } = await open(t);
      await page.goto(`${LAUNCHER}/launch/${ECHO}`);
      await screenshot(page, `server-login-${name}`);
      await logIn(page, name);
      await page.waitForURL(`${LAUNCHER}/launch/${ECHO}`);
      await page.locator("#account > summary").getByText(`${name}@example.org`).waitFor();
      await page.getByRole("button", { name: "Launch" }).click();
      // Dex keeps no session: the workshops' domain needs a second login.
      await logIn(page, name);
      await page.waitForURL((url) => url.hostname.endsWith(".workshops.test"));
      const asked = JSON.parse(await page.frameLocator("#app").locator("body").innerText());
      assert.equal(asked.app, "http");
      await screenshot(page, `server-workshop-${name}`);
    });
  }

  await t.test("teacher sees the workshops of the class and signs out", async (t) => {
    const { page, context } = await open(t);
    await page.goto(`${LAUNCHER}/admin/instances`);
    await logIn(page, "admin");
    await page.waitForURL(`${LAUNCHER}/admin/instances`);
    for (const name of ["alice", "bob"]) {
      await page.getByRole("row", { name: new RegExp(`${name}@example\\.org`) }).first().waitFor();
    }
    await page.locator("#account > summary").click();
    await page.getByRole("link", { name: "Sign out" }).click();
    await page.waitForURL(`${LAUNCHER}/signed-out`);
    const names = (await context.cookies()).filter((cookie) => /oauth2_proxy(_workshops)?$/.test(cookie.name));
    assert.deepEqual(names, [], "expected no session cookie of launcher or workshops");
  });
});
