// A new teacher makes a template: from the card of an app to the link for the class, with course material that is checked.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { overflow, violations } from "./axe.mjs";
import { ADMIN, openPage, screenshot, startBrowser, startLauncher } from "./support.mjs";

/** Most clicks from the card of an app to the QR code. Filled fields do not count. */
const MOST_CLICKS = 5;

/** Starts a server with the archive `/data.tar`. All other addresses are missing. Returns its URL. */
async function startServer(t) {
  const folder = await mkdtemp(join(tmpdir(), "material-"));
  await writeFile(join(folder, "exercise.txt"), "5050");
  const archive = execFileSync("tar", ["--create", "--directory", folder, "exercise.txt"]);
  await rm(folder, { recursive: true });
  const server = createServer((request, answer) => {
    answer.statusCode = request.url === "/data.tar" ? 200 : 404;
    answer.end(answer.statusCode === 200 ? archive : "");
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  t.after(() => server.close());
  return `http://127.0.0.1:${server.address().port}`;
}

test("teacher makes a template with checked course material", async (t) => {
  const [launcher, server, browser] = [await startLauncher(t), await startServer(t), await startBrowser(t)];
  const { page, complaints } = await openPage(t, browser, { email: ADMIN, viewport: { width: 1280, height: 900 } });
  const address = page.getByLabel("Address", { exact: true });
  const link = page.locator("[data-slug-of]");

  await t.test("card, name, material and link take at most five clicks", async (t) => {
    let clicks = 0;
    const click = (locator) => {
      clicks += 1;
      return locator.click();
    };
    await page.goto(`${launcher.url}/admin/templates/new`);
    const begin = Date.now();
    await page.getByLabel("Name", { exact: true }).first().fill("Einführung: Statistik");
    await click(page.getByRole("link", { name: "JupyterLab" }));
    await page.getByRole("link", { name: "JupyterLab" }).and(page.locator("[aria-current]")).waitFor();
    assert.equal(await page.getByLabel("Name", { exact: true }).first().inputValue(), "Einführung: Statistik");
    await page.getByLabel("Name", { exact: true }).first().fill("Einführung: Statistik 101");
    assert.match(await link.textContent(), /\/go\/einfuhrung-statistik-101$/);
    assert.ok(!(await page.getByLabel("Image", { exact: true }).count()), "the local fleet has no images");
    await screenshot(page, "editor-first");
    await address.fill(`${server}/missing.git`);
    await click(page.getByRole("button", { name: "Check Source 1" }));
    await page.getByText("does not have the material").waitFor();
    assert.equal(await page.getByLabel("Name", { exact: true }).first().inputValue(), "Einführung: Statistik 101");
    await screenshot(page, "editor-material-missing");
    await address.fill(`${server}/data.tar`);
    await click(page.getByRole("button", { name: "Check Source 1" }));
    await page.getByText("Found: an archive, 1 file, 1 kB.").waitFor();
    await screenshot(page, "editor-material-found");
    await click(page.getByRole("button", { name: "Create template" }));
    await page.getByRole("img", { name: /^QR code/ }).waitFor();
    await page.getByRole("link", { name: /\/go\/einfuhrung-statistik-101$/ }).first().waitFor();
    t.diagnostic(`${clicks} clicks, ${Date.now() - begin} ms`);
    assert.ok(clicks <= MOST_CLICKS, `${clicks} clicks`);
  });

  await t.test("material that does not exist is noticed before the template is saved", async () => {
    await page.goto(`${launcher.url}/admin/templates/new?preset=jupyterlab`);
    await address.fill(`${server}/missing.git`);
    await page.getByRole("button", { name: "Create template" }).click();
    await page.getByText("Nothing is saved yet: course material was not found.").waitFor();
    await screenshot(page, "editor-unfound");
    await page.getByRole("button", { name: "Save anyway" }).click();
    await page.getByRole("img", { name: /^QR code/ }).waitFor();
  });

  await t.test("rows are added and removed in place", async () => {
    await page.goto(`${launcher.url}/admin/templates/new?preset=jupyterlab`);
    await page.getByLabel("Tags").evaluate((field) => (field.closest("details").open = true));
    await page.getByLabel("Tags").fill("typed before");
    await page.getByRole("button", { name: "Add a question" }).click();
    await page.getByLabel("Question", { exact: true }).fill("Data set");
    await page.getByRole("button", { name: "Add a question" }).click();
    await page.getByRole("group", { name: "Question 2" }).waitFor();
    await page.getByRole("button", { name: "Remove Question 2" }).click();
    await page.getByRole("group", { name: "Question 2" }).waitFor({ state: "detached" });
    assert.equal(await page.getByLabel("Question", { exact: true }).inputValue(), "Data set");
    assert.equal(await page.getByLabel("Tags").inputValue(), "typed before");
    await screenshot(page, "editor-questions");
  });

  await t.test("errors are at their fields, in light, dark and on a phone", async (t) => {
    const wrong = async (one, name) => {
      await one.goto(`${launcher.url}/admin/templates/new?preset=web`);
      await one.getByLabel("Name", { exact: true }).first().fill("");
      await one.getByLabel("Lifetime", { exact: true }).fill("soon");
      await one.getByLabel("Address", { exact: true }).fill("ftp://example.org/a");
      await one.getByLabel("Command", { exact: true }).evaluate((field) => {
        field.closest("details").open = true;
        field.value = '"python3 app.py"';
      });
      await one.getByRole("button", { name: "Create template" }).click();
      await one.getByText("Nothing was saved. Correct these fields:").waitFor();
      await one.getByText('["python3","app.py"]').waitFor();
      await one.getByRole("button", { name: "Add a question" }).click();
      await one.getByRole("group", { name: "Question 1" }).waitFor();
      await one.getByRole("group", { name: "Questions" }).locator("summary").click();
      assert.deepEqual(await violations(one), []);
      assert.ok((await overflow(one)) <= 0, "the page is wider than the window");
      await screenshot(one, name);
    };
    await wrong(page, "editor-errors");
    const dark = await openPage(t, browser, { email: ADMIN, colorScheme: "dark", viewport: { width: 1280, height: 900 } });
    await wrong(dark.page, "editor-errors-dark");
    const phone = await openPage(t, browser, { email: ADMIN, viewport: { width: 360, height: 740 } });
    await wrong(phone.page, "editor-errors-phone");
  });
  const unexpected = complaints.filter((text) => !text.includes("status of 422"));
  assert.deepEqual(unexpected, [], "expected no script error and no violation of the content policy");
});
