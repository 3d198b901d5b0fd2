// A teacher without documentation: from the start page to a template with its QR code.

import assert from "node:assert/strict";
import { test } from "node:test";
import { ADMIN, openPage, screenshot, startBrowser, startLauncher } from "./support.mjs";

/** Most actions from the start page to the QR code of a new template. An action is a click or a filled field. */
const MOST_ACTIONS = 8;

test("teacher makes a template for JupyterLab and has its QR code in at most eight actions", async (t) => {
  const launcher = await startLauncher(t);
  const { page } = await openPage(t, await startBrowser(t), { email: ADMIN });
  let actions = 0;
  const act = async (action) => {
    actions += 1;
    await action;
  };
  await page.goto(launcher.url);
  await act(page.getByRole("link", { name: "Templates" }).click());
  await act(page.getByRole("link", { name: "New template" }).click());
  await act(page.getByRole("link", { name: "JupyterLab" }).click());
  await act(page.getByLabel("Name", { exact: true }).fill("Statistics 101"));
  await screenshot(page, "teacher-editor");
  await act(page.getByRole("button", { name: "Create template" }).click());
  const code = page.getByRole("img", { name: /^QR code/ });
  await code.waitFor();
  assert.ok(await code.isVisible());
  await screenshot(page, "teacher-saved");
  assert.ok(actions <= MOST_ACTIONS, `${actions} actions`);

  const link = await page.getByRole("status").getByRole("link", { name: /^http/ }).textContent();
  const { page: student } = await openPage(t, await startBrowser(t), { email: "alice@example.org" });
  await student.goto(link);
  await student.getByRole("heading", { level: 1, name: "Statistics 101" }).waitFor();
});

test("class uses a short link, and a template that only the link shows", async (t) => {
  const launcher = await startLauncher(t);
  const browser = await startBrowser(t);
  const { page } = await openPage(t, browser, { email: ADMIN });
  await page.goto(`${launcher.url}/admin/templates/new?start=jupyterlab`);
  await page.getByLabel("Name", { exact: true }).fill("Secret exam");
  await page.getByLabel("Only by link").check();
  await page.getByText("Advanced", { exact: true }).click();
  await page.getByLabel("Short link").fill("exam");
  await page.getByRole("button", { name: "Create template" }).click();
  await page.getByRole("img", { name: /^QR code/ }).waitFor();

  const { page: student } = await openPage(t, browser, { email: "alice@example.org" });
  await student.goto(launcher.url);
  assert.equal(await student.getByText("Secret exam").count(), 0);
  await student.goto(`${launcher.url}/go/exam`);
  await student.getByRole("heading", { level: 1, name: "Secret exam" }).waitFor();
});
