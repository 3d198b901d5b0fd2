// The shell of the pages: account menu, folded warning, the ring of the time left, and the brand of the installation.

import assert from "node:assert/strict";
import { test } from "node:test";
import { COLOURS, violations } from "./axe.mjs";
import { ADMIN, createTemplate, launchFromCard, openPage, screenshot, startBrowser, startLauncher, waitFor, workshopEntry } from "./support.mjs";

const BRAND = { SERVICE_BRAND_NAME: "Labor für Statistik", SERVICE_BRAND_COLOR: "#7a1fa2" };

test("shell of the pages", async (t) => {
  const launcher = await startLauncher(t, BRAND);
  const browser = await startBrowser(t);
  const { page, complaints } = await openPage(t, browser, { email: ADMIN });

  await t.test("account menu closes after Escape, after a click elsewhere, and when the focus leaves it", async () => {
    await page.goto(launcher.url);
    const button = page.locator("#account > summary");
    const language = page.locator("#account").getByRole("button", { name: "Deutsch" });
    await button.click();
    await language.focus();
    await page.keyboard.press("Escape");
    await language.waitFor({ state: "hidden" });
    assert.ok(await button.evaluate((node) => node === document.activeElement), "expected the focus on the button");
    await page.keyboard.press("Enter");
    await language.waitFor();
    await page.getByRole("heading", { name: "My workshops" }).click();
    await language.waitFor({ state: "hidden" });
    await button.click();
    await language.waitFor();
    await page.keyboard.press("Shift+Tab");
    await language.waitFor({ state: "hidden" });
  });

  await t.test("ring shows the time left as a part and as a clock", async () => {
    await createTemplate(launcher, "Short", { lifetime_seconds: 179, max_lifetime_seconds: 179 });
    await page.goto(launcher.url);
    await launchFromCard(page, launcher, "Short");
    const entry = workshopEntry(page, "Short");
    await entry.getByRole("link", { name: /^Open/ }).waitFor();
    const ring = async () => [
      await entry.locator(".ring text").textContent(),
      parseFloat(await entry.locator(".ring-left").getAttribute("stroke-dasharray")),
    ];
    const [clock, part] = await ring();
    assert.match(clock, /^0:0[012]$/);
    assert.ok(part > 0 && part <= 100, `${part} %`);
    await waitFor("a smaller part", async () => (await ring())[1] < part);
    await screenshot(page, "ring");
  });

  await t.test("warning of the shared user stays as the admin left it", async () => {
    await page.goto(`${launcher.url}/admin`);
    const advice = page.locator("#isolation > p");
    await page.locator("#isolation > summary").click();
    await advice.waitFor();
    await page.goto(`${launcher.url}/admin/templates`);
    await advice.waitFor();
    await page.locator("#isolation > summary").click();
    await advice.waitFor({ state: "hidden" });
    await page.reload();
    await page.getByRole("heading", { name: "Templates" }).waitFor();
    assert.ok(await advice.isHidden());
  });

  await t.test("pages have the name and the colour of the installation, readable in both schemes", async () => {
    for (const colorScheme of ["light", "dark"]) {
      await page.emulateMedia({ colorScheme });
      for (const path of ["/", "/admin/templates/new", "/signed-out"]) {
        await page.goto(launcher.url + path);
        assert.match(await page.title(), /Labor für Statistik$/);
        assert.deepEqual(await violations(page, "html", COLOURS), [], `${path}, ${colorScheme}`);
      }
      await page.goto(launcher.url);
      await screenshot(page, `brand-${colorScheme}`);
    }
    await page.emulateMedia({ colorScheme: "light" });
    const add = page.getByRole("link", { name: "New template" });
    await page.goto(`${launcher.url}/admin/templates`);
    assert.equal(await add.evaluate((link) => getComputedStyle(link).backgroundColor), "rgb(122, 31, 162)");
  });
  assert.deepEqual(complaints, [], "expected no script error and no violation of the content policy");
});
