// Accessibility (WCAG 2.2 AA) and layout of every page: in light, dark and phone layout, and in each language.

import assert from "node:assert/strict";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { COLOURS, LOOKS, overflow, primaryActions, violations } from "./axe.mjs";
import {
  ADMIN, createTemplate, launch, openMenu, openPage, screenshot, send, startBrowser, startLauncher, waitFor,
} from "./support.mjs";

const DESKTOP = { width: 1280, height: 800 };
const PHONE = { width: 360, height: 740 };
/** The desktop at 200 % zoom. */
const ZOOMED = { width: DESKTOP.width / 2, height: DESKTOP.height / 2 };
const JUPYTERLAB = "019aa1c0-0000-7000-8000-000000000001";
const FILES = "019aa1c0-0000-7000-8000-000000000002";
const PARAMETERS = [
  { name: "TITLE", label: "Title", kind: "text", help: "Shown at the top." },
  { name: "DATASET", label: "Data set", kind: "choice", choices: ["iris", "cars"] },
  { name: "ROWS", label: "Rows", kind: "number", default: "10", max: 100 },
  { name: "TOKEN", label: "Token", kind: "secret", required: false },
];

/** Launches workshops that are ready, start forever, and have ended. Returns {name of a page: its path}. */
async function prepare(launcher) {
  const [ready, saved] = [await launch(launcher, FILES), await launch(launcher, FILES)];
  const forever = { command: ["sleep", "600"] };
  const waiting = await launch(launcher, await createTemplate(launcher, "Slow", forever));
  const asking = await createTemplate(launcher, "Asking", { ...forever, parameters: PARAMETERS });
  const kept = await createTemplate(launcher, "Kept", { ...forever, storage: { kind: "kept", path: "/work" } });
  const { k8s_name: ended, volume } = await send(launcher, "POST", `/templates/${kept}/launch`, {});
  await send(launcher, "DELETE", `/instances/${ended}`);
  const until = (name, state) =>
    waitFor(`${name} to be ${state}`, async () => (await send(launcher, "GET", `/instances/${name}`)).state === state);
  await until(ready, "running");
  await until(saved, "running");
  await send(launcher, "DELETE", `/instances/${saved}`);
  await until(saved, "terminated");
  await until(ended, "terminated");
  return {
    home: "/",
    launch: `/launch/${JUPYTERLAB}`,
    "launch-form": `/launch/${asking}`,
    "launch-form-errors": `/launch/${asking}?p.DATASET=none&p.ROWS=1000&p.TOKEN=x`,
    instance: `/instances/${ready}`,
    "instance-saved": `/instances/${saved}`,
    end: `/instances/${ready}/end?return_to=/`,
    extend: `/instances/${ready}/extend`,
    waiting: `/instances/${waiting}/wait`,
    history: "/history",
    "saved-work": "/work",
    "saved-work-all": "/admin/work",
    "saved-work-delete": `/work/${volume}/delete`,
    overview: "/admin",
    instances: "/admin/instances",
    sorted: "/admin/instances?sort=owner",
    searched: "/admin/instances?q=files&owner=admin@example.org",
    workshops: `/admin/templates/${FILES}/workshops`,
    "workshops-empty": `/admin/templates/${JUPYTERLAB}/workshops`,
    templates: "/admin/templates",
    editor: "/admin/templates/new",
    edit: `/admin/templates/${FILES}/edit`,
    activity: "/admin/activity",
    "activity-wrong": "/admin/activity?person=nobody",
    "activity-empty": "/admin/activity?person=nobody@example.org",
    "guide-students": "/guide/students",
    "guide-teachers": "/guide/teachers",
    missing: "/no-such-page",
    problems: "/api/v1/problems#not-found",
  };
}

/**
 * Checks the current page, or the part with this CSS selector, with axe in each look. Checks the page for overflow, also at 200 %
 * zoom, and for its primary actions.
 */
async function check(page, name, part) {
  const looks = {
    light: {},
    dark: { colorScheme: "dark", rules: COLOURS },
    phone: { viewport: PHONE, rules: LOOKS },
    zoomed: { viewport: ZOOMED, rules: ["target-size"] },
  };
  for (const [look, { viewport = DESKTOP, colorScheme = "light", rules }] of Object.entries(looks)) {
    await page.setViewportSize(viewport);
    await page.emulateMedia({ colorScheme });
    await page.evaluate(() => {
      const transitions = document.getAnimations().filter((one) => one instanceof CSSTransition);
      return Promise.allSettled(transitions.map((one) => one.finished));
    });
    await screenshot(page, `look-${name}-${look}`);
    assert.deepEqual(await violations(page, part, rules), [], look);
    const surplus = await overflow(page);
    assert.ok(surplus <= 0, `in ${look} layout, the page is ${surplus} px wider than the window`);
  }
  await page.setViewportSize(DESKTOP);
  await page.emulateMedia({ colorScheme: "light" });
  const primary = await primaryActions(page);
  assert.ok(primary.length <= 1, `expected at most one primary action: ${primary.join(", ")}`);
}

test("every page passes axe in light, dark and phone layout", async (t) => {
  const store = await mkdtemp(join(tmpdir(), "launcher-snapshots-"));
  t.after(() => rm(store, { recursive: true, force: true }));
  const launcher = await startLauncher(t, { SERVICE_SNAPSHOT_STORE: store });
  const browser = await startBrowser(t);
  const pages = await prepare(launcher);
  const { page } = await openPage(t, browser, { email: ADMIN, viewport: DESKTOP });
  for (const [name, path] of Object.entries(pages)) {
    await t.test(`page ${name} passes axe`, async () => {
      await page.goto(launcher.url + path);
      await check(page, name);
    });
  }

  await t.test("menus of tables fit on a phone", async () => {
    await page.setViewportSize(PHONE);
    for (const path of [pages.templates, pages["saved-work"], pages["saved-work-all"]]) {
      await page.goto(launcher.url + path);
      for (const table of await page.getByRole("table").all()) {
        await (await openMenu(table.getByRole("row").nth(1))).getByRole("link").first().waitFor();
        assert.deepEqual(await violations(page, "table", LOOKS), [], path);
        assert.ok((await overflow(page)) <= 0, `expected the menu on ${path} to be in the window`);
      }
    }
    await page.setViewportSize(DESKTOP);
  });

  await t.test("API documentation passes axe", async () => {
    await page.goto(`${launcher.url}/api/v1/docs`);
    const extend = page.getByRole("button", { name: /^POST \/instances\/.*\/extend/ });
    await extend.waitFor();
    await check(page, "api");
    await extend.click();
    await page.getByRole("button", { name: "Try it out" }).click();
    await page.getByRole("button", { name: "Execute" }).click();
    await page.getByRole("heading", { name: "Server response" }).waitFor();
    await check(page, "api-operation", ".opblock.is-open");
    await page.getByRole("button", { name: /^ExtendBody/ }).first().click();
    await check(page, "api-schema", "section.models");
    await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Workshops" }).click();
    await page.getByRole("region", { name: "My workshops" }).waitFor();
  });

  await t.test("frame page passes axe", async () => {
    await page.goto(`${launcher.url}${pages.instance}`);
    await page.goto(await page.getByRole("link", { name: /^Open/ }).first().getAttribute("href"));
    await page.frameLocator("#app").getByText("Directory listing").first().waitFor();
    await page.getByText(/ left$/).waitFor();
    await check(page, "frame");
  });

  await t.test("page of an unknown workshop passes axe", async () => {
    const answer = await page.goto(launcher.url.replace("localhost", "unknown.localhost"));
    assert.equal(answer.status(), 403);
    await check(page, "unknown-workshop");
  });

  await t.test("bulk actions pass axe", async () => {
    await page.goto(`${launcher.url}/admin/instances`);
    await page.getByRole("checkbox", { name: "Select all" }).check();
    const ticked = page.getByRole("form", { name: "Selected instances" });
    await ticked.getByRole("button", { name: "Extend" }).click();
    await page.getByRole("heading", { name: "Extended" }).waitFor();
    await check(page, "bulk-extended");
    await page.getByRole("link", { name: "Back to the list" }).click();
    await page.getByRole("checkbox", { name: "Select all" }).check();
    await ticked.getByRole("button", { name: "End", exact: true }).click();
    await page.getByRole("heading", { name: "End 2 workshops?" }).waitFor();
    await check(page, "bulk-question");
  });

  await t.test("workshops of a template pass axe after its forms are sent", async () => {
    await page.goto(launcher.url + pages.workshops);
    await page.getByText("Who has not launched?").click();
    await page.getByLabel("E-mail addresses").fill(`${ADMIN}, nobody@example.org; wrong`);
    await page.getByRole("button", { name: "Compare" }).click();
    await page.getByRole("region", { name: "Your list" }).waitFor();
    await check(page, "workshops-compared");
    await page.getByRole("button", { name: "Extend all" }).click();
    await page.getByRole("heading", { name: /^Extension until/ }).waitFor();
    await check(page, "workshops-extended");
  });

  await t.test("signed-out page passes axe", async (t) => {
    const { page: guest, complaints } = await openPage(t, browser);
    await guest.goto(`${launcher.url}/signed-out`);
    await guest.getByRole("link", { name: "Sign in again" }).waitFor();
    const surface = await guest.locator("main").evaluate((main) => getComputedStyle(main).borderStyle);
    assert.equal(surface, "solid", "expected the content policy to allow the style of the page");
    await check(guest, "signed-out");
    assert.equal(complaints.length, 1, `expected one console error, for the status 401 of the page: ${complaints}`);
  });

  // The reference of problems belongs to the API, which is in English only. The others are states of templates in the list.
  const left = ["problems", "sorted", "searched", "activity-wrong", "activity-empty", "workshops-empty"];
  const translated = Object.fromEntries(Object.entries(pages).filter(([name]) => !left.includes(name)));
  const languages = await readdir(new URL("../../crates/launcher-api/locales", import.meta.url));
  for (const locale of languages.filter((code) => code !== "en")) {
    const { direction } = new Intl.Locale(locale).textInfo;
    await t.test(`no page is wider than a phone in ${locale}`, async (t) => {
      const { page } = await openPage(t, browser, { email: ADMIN, locale, viewport: PHONE, colorScheme: "dark" });
      const wrong = {};
      for (const [name, path] of Object.entries(translated)) {
        await page.goto(launcher.url + path);
        await screenshot(page, `language-${locale}-${name}`);
        const [lang, dir] = await page.evaluate(() => [document.documentElement.lang, document.documentElement.dir]);
        assert.deepEqual([lang, dir], [locale, direction], name);
        const found = direction === "rtl" ? await violations(page, "html", LOOKS) : [];
        if ((await overflow(page)) > 0) found.push("wider than the window");
        if (found.length) wrong[name] = found;
      }
      assert.deepEqual(wrong, {});
    });
  }
});
