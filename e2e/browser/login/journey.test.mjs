// Alice follows the link on a slide, logs in, and runs a notebook cell. Then she signs out.

import assert from "node:assert/strict";
import { test } from "node:test";
import { runCell } from "../lab.mjs";
import { startSlide } from "../slide.mjs";
import { screenshot } from "../support.mjs";
import {
  createTemplate, JUPYTERLAB, LAUNCHER, logIn, openProfile, signOut, startChainBrowser, WORKSHOPS,
} from "./people.mjs";

test("user logs in, uses a workshop and signs out", async (t) => {
  const browser = await startChainBrowser(t);
  const { context, page: alice, complaints } = await openProfile(t, browser);
  let workshop;

  const notebooks = await createTemplate(t, browser, JUPYTERLAB);
  const slide = await startSlide(t, notebooks.link, "Notebooks");

  await t.test("link on a slide leads to the page of its template after the login", async () => {
    await alice.goto(slide);
    await alice.getByRole("link", { name: "Notebooks" }).click();
    await logIn(alice, "alice@example.org");
    await alice.waitForURL(`${LAUNCHER}/launch/${notebooks.id}`);
    await alice.locator("#account > summary").getByText("alice@example.org").waitFor();
    assert.equal(await alice.getByText("Admin", { exact: true }).count(), 0, "expected no admin badge for Alice");
    await screenshot(alice, "login-came-back");
  });

  await t.test("one click launches JupyterLab, where Alice runs a cell on its own subdomain", async () => {
    await alice.getByRole("button", { name: "Launch" }).click();
    await alice.waitForURL(/\/instances\/notebooks-[a-z0-9]{10}\/wait$/);
    const name = new URL(alice.url()).pathname.split("/")[2];
    // The waiting page opens the workshop. dex keeps no session, so it asks Alice for a second login for the workshop
    // domain.
    await logIn(alice, "alice@example.org");
    workshop = (url) => url.hostname === `${name}.${WORKSHOPS}` && url.pathname === "/_launcher/frame";
    await alice.waitForURL(workshop);
    await runCell(alice);
    await screenshot(alice, "login-jupyterlab");
  });

  await t.test("same link opens the running workshop without a click", async () => {
    const tab = await context.newPage();
    await tab.goto(slide);
    await tab.getByRole("link", { name: "Notebooks" }).click();
    await tab.waitForURL(workshop);
    await tab.close();
  });

  await t.test("tab that was open during the sign-out leads to the login", async () => {
    const old = await context.newPage();
    await old.goto(LAUNCHER);
    await signOut(alice, LAUNCHER, complaints);
    // The tab redirects at the next click, or when its event stream is refused, which interrupts the click.
    old.getByRole("link", { name: "History" }).click().catch(() => {});
    await old.waitForURL(/^http:\/\/dex\.test/);
    await alice.getByRole("link", { name: "Sign in again" }).click();
    await alice.waitForURL(/^http:\/\/dex\.test/);
  });
});
