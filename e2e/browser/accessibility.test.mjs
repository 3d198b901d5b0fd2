// Automatic accessibility checks (WCAG 2.2 AA) of every page in light, dark and phone layout.

import assert from "node:assert/strict";
import { test } from "node:test";
import { overflow, violations } from "./axe.mjs";
import { ADMIN, launchFromCard, openPage, screenshot, startBrowser, startLauncher, workshopEntry } from "./support.mjs";

const LOOKS = [
  { name: "light", viewport: { width: 1280, height: 800 }, colorScheme: "light" },
  { name: "dark", viewport: { width: 1280, height: 800 }, colorScheme: "dark" },
  { name: "phone", viewport: { width: 360, height: 740 }, colorScheme: "light" },
];

/** Launches a workshop whose app never answers. Returns its name. */
const startsForever = (page) =>
  page.evaluate(async () => {
    const send = async (path, body) => {
      const options = { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
      const answer = await fetch(`/api/v1${path}`, options);
      if (answer.status !== 201) throw new Error(await answer.text());
      return answer.json();
    };
    const image = "docker.io/library/python:3.13-alpine";
    const template = { name: "Slow", app_type: "custom", image, port: 8000, command: ["sleep", "600"] };
    const { template_id } = await send("/templates/", template);
    return (await send(`/templates/${template_id}/launch`, {})).k8s_name;
  });

/** Launches a workshop that keeps its files, and ends it. Returns the name of its volume. */
const keptVolume = (page) =>
  page.evaluate(async () => {
    const send = async (method, path, body) => {
      const options = { method, headers: { "Content-Type": "application/json" }, body: body && JSON.stringify(body) };
      return (await fetch(`/api/v1${path}`, options)).json();
    };
    const image = "docker.io/library/python:3.13-alpine";
    const storage = { kind: "kept", path: "/work" };
    const template = { name: "Kept", app_type: "custom", image, port: 8000, command: ["sleep", "600"], storage };
    const { template_id } = await send("POST", "/templates/", template);
    const { k8s_name, volume } = await send("POST", `/templates/${template_id}/launch`, {});
    await send("DELETE", `/instances/${k8s_name}`);
    return volume;
  });

/** Creates a template with one launch parameter of each kind. Returns its id. */
const asking = (page) =>
  page.evaluate(async () => {
    const parameters = [
      { name: "TITLE", label: "Title", kind: "text", help: "Shown at the top." },
      { name: "DATASET", label: "Data set", kind: "choice", choices: ["iris", "cars"] },
      { name: "ROWS", label: "Rows", kind: "number", default: "10", max: 100 },
      { name: "TOKEN", label: "Token", kind: "secret", required: false },
    ];
    const image = "docker.io/library/python:3.13-alpine";
    const template = { name: "Asking", app_type: "custom", image, port: 8000, command: ["sleep", "600"], parameters };
    const options = { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(template) };
    return (await (await fetch("/api/v1/templates/", options)).json()).template_id;
  });

/** Returns the id of the template of this instance. */
const templateOf = (page, instance) =>
  page.evaluate(async (name) => (await (await fetch(`/api/v1${name}`)).json()).template_id, instance);

test("every page passes axe in light, dark and phone layout", async (t) => {
  const launcher = await startLauncher(t);
  const browser = await startBrowser(t);
  const { page: setup } = await openPage(t, browser, { email: ADMIN });
  await setup.goto(launcher.url);
  await launchFromCard(setup, launcher, "Files");
  await workshopEntry(setup, "Files").getByRole("link", { name: /^Open/ }).waitFor();
  const waiting = await startsForever(setup);
  const link = (name) => setup.getByRole("link", { name, exact: true }).first().getAttribute("href");
  const instance = await workshopEntry(setup, "Files").getByRole("link", { name: "Files", exact: true }).getAttribute("href");
  const template = (await link("JupyterLab")).split("/").at(-1);
  const filesTemplate = await templateOf(setup, instance);
  const asks = await asking(setup);
  const pages = {
    home: "/",
    launch: await link("JupyterLab"),
    "launch-form": `/launch/${asks}`,
    "launch-form-errors": `/launch/${asks}?p.DATASET=none&p.ROWS=1000&p.TOKEN=x`,
    instance,
    end: `${instance}/end?return_to=/`,
    extend: `${instance}/extend`,
    waiting: `/instances/${waiting}/wait`,
    history: "/history",
    "saved-work": "/work",
    "saved-work-all": "/admin/work",
    "saved-work-delete": `/work/${await keptVolume(setup)}/delete`,
    overview: "/admin",
    instances: "/admin/instances",
    sorted: "/admin/instances?sort=owner",
    searched: "/admin/instances?q=files&owner=admin@example.org",
    class: `/admin/templates/${filesTemplate}/class`,
    "class-empty": `/admin/templates/${template}/class`,
    templates: "/admin/templates",
    editor: "/admin/templates/new",
    activity: "/admin/activity",
    "activity-wrong": "/admin/activity?person=nobody",
    "activity-empty": "/admin/activity?person=nobody@example.org",
    "guide-students": "/guide/students",
    "guide-teachers": "/guide/teachers",
    missing: "/no-such-page",
    problems: "/api/v1/problems#not-found",
  };
  const frame = await workshopEntry(setup, "Files").getByRole("link", { name: /^Open/ }).getAttribute("href");
  const unknown = launcher.url.replace("localhost", "unknown.localhost");
  /** Checks the current page, or the part with this CSS selector, with axe. Checks the page for horizontal overflow. */
  const check = async (page, name, look, part) => {
    await screenshot(page, `look-${name}-${look}`);
    assert.deepEqual(await violations(page, part), []);
    const surplus = await overflow(page);
    assert.ok(surplus <= 0, `the page is ${surplus} px wider than the window`);
  };
  for (const { name: look, ...options } of LOOKS) {
    const { page } = await openPage(t, browser, { email: ADMIN, ...options });
    for (const [name, path] of Object.entries(pages)) {
      await t.test(`page ${name} passes axe, ${look}`, async () => {
        await page.goto(launcher.url + path);
        await check(page, name, look);
      });
    }
    await t.test(`API documentation passes axe, ${look}`, async () => {
      await page.goto(`${launcher.url}/api/v1/docs`);
      const extend = page.getByRole("button", { name: /^POST \/instances\/.*\/extend/ });
      await extend.waitFor();
      await check(page, "api", look);
      await extend.click();
      await page.getByRole("button", { name: "Try it out" }).click();
      await page.getByRole("button", { name: "Execute" }).click();
      await page.getByRole("heading", { name: "Server response" }).waitFor();
      await check(page, "api-operation", look, ".opblock.is-open");
      const schemas = page.getByRole("button", { name: /^ExtendBody/ });
      await schemas.first().click();
      await check(page, "api-schema", look, "section.models");
      await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Workshops" }).click();
      await page.getByRole("region", { name: "My workshops" }).waitFor();
    });
    await t.test(`frame page passes axe, ${look}`, async () => {
      await page.goto(frame);
      await page.frameLocator("#app").getByText("Directory listing").first().waitFor();
      await page.getByText(/ left$/).waitFor();
      await check(page, "frame", look);
    });
    await t.test(`page of an unknown workshop passes axe, ${look}`, async () => {
      const answer = await page.goto(unknown);
      assert.equal(answer.status(), 403);
      await check(page, "unknown-workshop", look);
    });
    await t.test(`bulk actions pass axe, ${look}`, async () => {
      await page.goto(`${launcher.url}/admin/instances`);
      await page.getByRole("checkbox", { name: "Select all" }).check();
      const ticked = page.getByRole("form", { name: "Selected instances" });
      await ticked.getByRole("button", { name: "Extend" }).click();
      await page.getByRole("heading", { name: "Extended" }).waitFor();
      await check(page, "bulk-extended", look);
      await page.getByRole("link", { name: "Back to the list" }).click();
      await page.getByRole("checkbox", { name: "Select all" }).check();
      await ticked.getByRole("button", { name: "End", exact: true }).click();
      await page.getByRole("heading", { name: "End 2 workshops?" }).waitFor();
      await check(page, "bulk-question", look);
      await page.getByRole("link", { name: "Keep running" }).click();
    });
    await t.test(`class passes axe after its forms are sent, ${look}`, async () => {
      await page.goto(launcher.url + pages.class);
      await page.getByText("Who has not launched?").click();
      await page.getByLabel("E-mail addresses of the class").fill(`${ADMIN}, nobody@example.org; wrong`);
      await page.getByRole("button", { name: "Compare" }).click();
      await page.getByRole("region", { name: "Your list" }).waitFor();
      await check(page, "class-compared", look);
      await page.getByRole("button", { name: "Extend all" }).click();
      await page.getByRole("heading", { name: /^Extension until/ }).waitFor();
      await check(page, "class-extended", look);
    });
    await t.test(`signed-out page passes axe, ${look}`, async () => {
      const { page: guest, complaints } = await openPage(t, browser, options);
      await guest.goto(`${launcher.url}/signed-out`);
      await guest.getByRole("link", { name: "Sign in again" }).waitFor();
      const surface = await guest.locator("main").evaluate((main) => getComputedStyle(main).borderStyle);
      assert.equal(surface, "solid", "expected the content policy to allow the style of the page");
      await check(guest, "signed-out", look);
      assert.equal(complaints.length, 1, `expected one console error, for the status 401 of the page: ${complaints}`);
    });
  }
});
