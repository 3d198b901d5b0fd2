// A link fills the launch form. The app gets the values, also without JavaScript, and no page shows the secret.

import assert from "node:assert/strict";
import { test } from "node:test";
import { ADMIN, openPage, screenshot, startBrowser, startLauncher, waitFor, workshopEntry } from "./support.mjs";

const SECRET = "hunter2-unique";

/** Creates a template whose app shows its values. Returns its id. */
const createTemplate = (page) =>
  page.evaluate(async () => {
    const serve = 'echo "group $GROUP, rows $ROWS, token $TOKEN" > values.txt; exec python3 -m http.server "$PORT" --bind 127.0.0.1';
    const parameters = [
      { name: "GROUP", label: "Group", kind: "choice", choices: ["red", "blue"], help: "Your group in the course." },
      { name: "ROWS", label: "Rows", kind: "number", default: "10", max: 100, integer: true },
      { name: "TOKEN", label: "Token", kind: "secret" },
    ];
    const command = ["sh", "-c", serve];
    const template = { name: "Asking", app_type: "custom", image: "python:3", port: 8000, command, parameters, slug: "asking" };
    const options = { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(template) };
    const answer = await fetch("/api/v1/templates/", options);
    if (answer.status !== 201) throw new Error(await answer.text());
  });

for (const javaScriptEnabled of [true, false]) {
  test(`link fills the launch form, ${javaScriptEnabled ? "with" : "without"} JavaScript`, async (t) => {
    const launcher = await startLauncher(t);
    const browser = await startBrowser(t);
    const { page: setup } = await openPage(t, browser, { email: ADMIN });
    await setup.goto(launcher.url);
    await createTemplate(setup);
    const { context, page } = await openPage(t, browser, { email: "alice@example.org", javaScriptEnabled });

    await page.goto(launcher.url);
    await page.getByRole("link", { name: "Launch Asking" }).click();
    await page.getByLabel("Group").waitFor();

    await page.goto(`${launcher.url}/go/asking?p.GROUP=blue&p.ROWS=1000&p.TOKEN=${SECRET}&start=1`);
    await page.getByText("These values of the link were ignored: TOKEN.").waitFor();
    assert.equal(await page.getByLabel("Group").inputValue(), "blue");
    assert.equal(await page.getByLabel("Token").inputValue(), "");
    const described = (await page.getByLabel("Rows").getAttribute("aria-describedby")).split(" ");
    assert.equal(await page.locator(`#${described.at(-1)}`).textContent(), "At most 100.");
    await screenshot(page, `launch-form-${javaScriptEnabled}`);

    await page.getByLabel("Rows").fill("20");
    await page.getByLabel("Token").fill(SECRET);
    await page.getByRole("button", { name: "Launch", exact: true }).click();
    await page.waitForURL((url) => !url.pathname.startsWith("/launch/"));
    const open = workshopEntry(page, "Asking").getByRole("link", { name: /^Open/ });
    await waitFor("the workshop to run", 30, async () => {
      // The waiting page may open the workshop at the same time, which interrupts this navigation.
      await page.goto(launcher.url).catch(() => {});
      return open.isVisible();
    });
    await workshopEntry(page, "Asking").getByRole("link", { name: "Asking", exact: true }).click();
    await page.getByText("(secret)").waitFor();
    assert.ok(!(await page.content()).includes(SECRET), "the page shows the secret");

    await page.goto(launcher.url);
    const [app] = await Promise.all([context.waitForEvent("page"), open.click()]);
    await app.frameLocator("#app").getByRole("link", { name: "values.txt" }).click();
    await app.frameLocator("#app").getByText(`group blue, rows 20, token ${SECRET}`).waitFor();
  });
}
