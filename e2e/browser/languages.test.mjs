// The pages in other languages: a whole launch in Arabic on a phone, and the layout of every page in each language.

import assert from "node:assert/strict";
import { test } from "node:test";
import { overflow, violations } from "./axe.mjs";
import { ADMIN, openPage, screenshot, startBrowser, startLauncher } from "./support.mjs";

const PHONE = { width: 390, height: 844 };
const DESKTOP = { width: 1280, height: 800 };
const PAGES = [
  "/",
  "/history",
  "/guide/students",
  "/guide/teachers",
  "/admin",
  "/admin/activity",
  "/admin/instances",
  "/admin/templates",
  "/admin/templates/new",
  "/no-such-page",
];

/** Returns the addresses of the pages of the template "Files" and of the admin's workshop of it. */
async function addresses(page, launcher) {
  await page.goto(launcher.url);
  const template = await page.getByRole("link", { name: "Files", exact: true }).first().getAttribute("href");
  const id = template.split("/").at(-1);
  return [template, `/admin/templates/${id}/edit`, `/admin/templates/${id}/class`];
}

test("student launches, works and ends in Arabic on a phone", async (t) => {
  const launcher = await startLauncher(t);
  const browser = await startBrowser(t);
  const { page, complaints } = await openPage(t, browser, {
    email: "alice@example.org",
    locale: "ar-EG",
    viewport: PHONE,
  });
  await page.goto(launcher.url);
  assert.deepEqual(
    await page.evaluate(() => [document.documentElement.lang, document.documentElement.dir]),
    ["ar", "rtl"],
  );
  await screenshot(page, "arabic-start");
  await page.getByRole("link", { name: "Files", exact: true }).click();
  await page.getByRole("button", { name: "تشغيل", exact: true }).click();
  await page.frameLocator("#app").getByText("Directory listing").first().waitFor();
  assert.notEqual(new URL(page.url()).origin, launcher.url, "expected the workshop to open without another click");
  assert.equal(await page.evaluate(() => document.documentElement.dir), "rtl", "expected the bar in Arabic");
  await screenshot(page, "arabic-frame");

  await page.goto(launcher.url);
  const workshop = page.getByRole("region", { name: "ورشاتي" }).getByRole("listitem").filter({ hasText: "Files" });
  assert.match(await workshop.textContent(), /جاهزة/);
  page.once("dialog", (dialog) => dialog.accept());
  await workshop.getByRole("button", { name: /^إنهاء/ }).click();
  await workshop.waitFor({ state: "detached" });
  assert.ok((await overflow(page)) <= 0);
  assert.deepEqual(complaints, []);
});

test("reader chooses a language in the footer", async (t) => {
  const launcher = await startLauncher(t);
  const { page } = await openPage(t, await startBrowser(t), { email: "alice@example.org" });
  await page.goto(`${launcher.url}/history`);
  await page.getByRole("button", { name: "Deutsch" }).click();
  await page.getByRole("heading", { level: 1, name: "Verlauf" }).waitFor();
  assert.equal(new URL(page.url()).pathname, "/history", "expected the same page again");
  await page.goto(launcher.url);
  assert.equal(await page.evaluate(() => document.documentElement.lang), "de");
  await page.getByRole("button", { name: "English" }).click();
  await page.getByRole("region", { name: "My workshops" }).waitFor();
});

test("every page passes axe from right to left", async (t) => {
  const launcher = await startLauncher(t);
  const browser = await startBrowser(t);
  for (const [look, options] of Object.entries({
    light: { viewport: DESKTOP, colorScheme: "light" },
    dark: { viewport: DESKTOP, colorScheme: "dark" },
    phone: { viewport: PHONE, colorScheme: "light" },
  })) {
    const { page } = await openPage(t, browser, { email: ADMIN, locale: "ar", ...options });
    for (const path of [...PAGES, ...(await addresses(page, launcher))]) {
      await t.test(`${path.replace(/[0-9a-f-]{36}/, "…")}, ${look}`, async () => {
        await page.goto(launcher.url + path);
        await screenshot(page, `arabic-${path.replaceAll("/", "-").replace(/[0-9a-f-]{36}/, "x")}-${look}`);
        assert.deepEqual(await violations(page), []);
        assert.ok((await overflow(page)) <= 0, "expected no page wider than the window");
      });
    }
  }
});

test("no page is wider than a phone in any language", async (t) => {
  const launcher = await startLauncher(t);
  const browser = await startBrowser(t);
  for (const locale of ["de", "es", "fr", "zh-CN"]) {
    const { page } = await openPage(t, browser, { email: ADMIN, locale, viewport: { width: 360, height: 740 } });
    const surplus = {};
    for (const path of [...PAGES, ...(await addresses(page, launcher))]) {
      await page.goto(launcher.url + path);
      assert.equal(await page.evaluate(() => document.documentElement.lang), locale.split("-")[0]);
      if ((await overflow(page)) > 0) surplus[path] = await overflow(page);
      if (path === "/" || path === "/admin/templates/new") {
        await screenshot(page, `language-${locale}${path.replaceAll("/", "-")}`);
      }
    }
    assert.deepEqual(surplus, {}, `pages in ${locale} are wider than the window`);
  }
});
