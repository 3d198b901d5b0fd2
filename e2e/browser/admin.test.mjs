// Features for admins: the admin badge, the list of all instances, the template editor.

import assert from "node:assert/strict";
import { test } from "node:test";
import { ADMIN, launchFromCard, openPage, screenshot, startBrowser, startLauncher, waitFor, workshopEntry } from "./support.mjs";

test("admin creates a template, a user launches it, the admin ends the workshop", async (t) => {
  const launcher = await startLauncher(t);
  const browser = await startBrowser(t);
  const { page: admin, complaints } = await openPage(t, browser, { email: ADMIN });
  const { page: bob } = await openPage(t, browser, { email: "bob@example.org" });

  await t.test("only admins see the admin badge and the templates page", async () => {
    await admin.goto(launcher.url);
    await bob.goto(launcher.url);
    assert.equal(await admin.getByRole("banner").getByText("Admin", { exact: true }).count(), 1);
    assert.equal(await bob.getByRole("banner").getByText("Admin", { exact: true }).count(), 0);
    assert.equal(await bob.getByRole("navigation").getByRole("link", { name: "Templates" }).count(), 0);
    const answer = await bob.goto(`${launcher.url}/admin/templates`);
    assert.equal(answer.status(), 403);
    await screenshot(bob, "not-an-admin");
  });

  await t.test("invalid template field shows its error at the field", async () => {
    await admin.getByRole("navigation").getByRole("link", { name: "Templates" }).click();
    await admin.getByRole("link", { name: "New template" }).click();
    await admin.getByLabel("Name", { exact: true }).fill("Notes <b>& more</b>");
    await admin.getByLabel("App type").selectOption({ value: "custom" });
    await admin.getByLabel("Image", { exact: true }).fill("docker.io/library/python:3.13-alpine");
    await admin.getByLabel("Port").fill("8080");
    await admin.getByText("Advanced", { exact: true }).click();
    await admin.getByLabel("Command").fill("python3 -m http.server $(PORT) --bind 127.0.0.1");
    await admin.getByRole("button", { name: "Create template" }).click();
    const port = admin.getByLabel("Port");
    assert.equal(await port.getAttribute("aria-invalid"), "true");
    const describedBy = (await port.getAttribute("aria-describedby")).split(" ").at(-1);
    assert.match(await admin.locator(`#${describedBy}`).textContent(), /8080/);
    assert.equal(await admin.getByLabel("Name", { exact: true }).inputValue(), "Notes <b>& more</b>", "expected the typed text to remain");
    assert.equal(await admin.locator('[aria-invalid="true"]').count(), 1, "expected one invalid field");
    await screenshot(admin, "template-error");
    await port.fill("8000");
    await admin.getByRole("button", { name: "Preview" }).click();
    await admin.getByRole("region", { name: "Preview" }).waitFor();
    await screenshot(admin, "template-preview");
    await admin.getByRole("button", { name: "Create template" }).click();
    await admin.goto(`${launcher.url}/admin/templates`);
    await admin.getByRole("row", { name: /Notes <b>& more<\/b>/ }).waitFor();
    await screenshot(admin, "templates");
  });

  await t.test("workshop ended by the admin disappears from the user's open page", async () => {
    await bob.goto(launcher.url);
    await launchFromCard(bob, launcher, "Notes <b>& more</b>");
    const entry = workshopEntry(bob, "Notes");
    await entry.getByRole("link", { name: /^Open/ }).waitFor();
    await admin.goto(`${launcher.url}/admin/instances`);
    const row = admin.getByRole("row", { name: /bob@example\.org/ });
    await row.waitFor();
    await screenshot(admin, "all-instances");
    await row.getByRole("link", { name: /^End/ }).click();
    await admin.getByText("bob@example.org").waitFor();
    await admin.getByRole("button", { name: "End workshop" }).click();
    await entry.waitFor({ state: "detached" });
    await waitFor("the workshop's process to end", 10, async () => (await launcher.processes()).length === 0);
    await bob.goto(`${launcher.url}/history`);
    assert.match(await bob.getByRole("row", { name: /Notes/ }).textContent(), /admin/i);
    const refused = /status of 422/;
    assert.deepEqual(complaints.filter((text) => !refused.test(text)), [], "expected no script error and no violation of the content policy");
  });
});
