// A student's whole journey: a link on a slide, the waiting page, the workshop with its bar, an extension, the end, and
// another launch. Each variant makes the same journey. The variants run at the same time, because most of it is waiting.

import assert from "node:assert/strict";
import { test } from "node:test";
import { overflow, violations } from "./axe.mjs";
import { finger, keyboard, mouse } from "./student/hands.mjs";
import { LIGHT_TITLE, prepareLecture } from "./student/lecture.mjs";
import { ARABIC, ENGLISH, untranslated } from "./student/words.mjs";
import { get, openPage, screenshot, startBrowser, startLauncher, waitFor } from "./support.mjs";

const WORKSHOP = /^http:\/\/[a-z0-9-]+\.localhost:\d+\/_launcher\/frame/;
const VARIANTS = [
  { slug: "mouse", name: "Statistics", hand: mouse, usesJupyter: true },
  { slug: "keyboard", name: "Keyboard", hand: keyboard },
  { slug: "phone", name: "Phone", hand: finger, options: { viewport: { width: 390, height: 740 }, hasTouch: true } },
  { slug: "no-script", name: "Plain", hand: mouse, options: { javaScriptEnabled: false } },
  { slug: "arabic", name: "مقدمة في الإحصاء", hand: mouse, words: ARABIC, options: { locale: "ar-EG" } },
];

test("student's journey from a slide to the second launch", { concurrency: true }, async (t) => {
  const launcher = await startLauncher(t, { SERVICE_SEED_TEMPLATES: undefined });
  const browser = await startBrowser(t);
  const journeys = VARIANTS.map((variant) =>
    t.test(variant.slug, async (t) => {
      const lecture = await prepareLecture(t, launcher, variant);
      const email = `${variant.slug}@example.org`;
      const { context, page, complaints } = await openPage(t, browser, { email, ...variant.options });
      const student = new Student(variant, launcher, email, context);
      await student.travels(page, lecture);
      // Chromium reports the status of the page about the ended workshop, and of JupyterLab's requests during the end.
      const expected = /status of 403 |status of 503 .*\.localhost:\d+\/api\//;
      const others = complaints.filter((complaint) => !expected.test(complaint));
      assert.deepEqual(others, [], "expected no script error and no violation of the content policy");
    }),
  );
  await Promise.all(journeys);
});

/** Calls `look` again if the page reloads meanwhile, as the waiting page without scripts does. */
async function steadily(look) {
  for (;;) {
    try {
      return await look();
    } catch (error) {
      if (!error.message.includes("Execution context was destroyed")) throw error;
    }
  }
}

class Student {
  constructor({ slug, hand, words = ENGLISH, usesJupyter = false, options = {} }, launcher, email, context) {
    Object.assign(this, { slug, hand, words, usesJupyter, launcher, email, context });
    this.hasScripts = options.javaScriptEnabled !== false;
  }

  async travels(page, lecture) {
    await this.launchesFromSlide(page, lecture);
    const expiry = await this.worksUntilLastWarning(page);
    await this.extends(page, expiry);
    await this.seesEnd(page, lecture);
    await this.launchesAgain(page, lecture);
  }

  async launchesFromSlide(page, { slide, name, letAppStart }) {
    await page.goto(slide);
    await this.press(page, "link", name);
    await page.waitForURL(/\/launch\/[0-9a-f-]{36}$/);
    const buttons = page.getByRole("main").getByRole("button");
    assert.deepEqual(await buttons.allTextContents(), [this.words.launch], "expected a page with one button");
    await this.examine(page, "launch");
    await this.press(page, "button", this.words.launch);
    await page.waitForURL(/\/wait$/);
    await page.getByRole("list", { name: this.words.steps }).waitFor();
    await this.examine(page, "waiting");
    await letAppStart();
    await this.isInWorkshop(page);
    if (this.hasScripts) await waitFor("the first warning", 30, () => this.level(page, "soon"));
    await this.seesApp(page);
    await this.examine(page, "workshop");
  }

  /** Waits until the page has opened the workshop by itself. */
  async isInWorkshop(page) {
    await page.waitForURL(WORKSHOP, { timeout: 60_000 });
  }

  async seesApp(page) {
    const app = page.frameLocator("#app");
    if (this.usesJupyter) await app.locator(".jp-LauncherCard").first().waitFor({ timeout: 60_000 });
    else await app.getByRole("heading", { name: LIGHT_TITLE }).waitFor();
  }

  /** Works in the workshop until the last warning, and returns the expiry. */
  async worksUntilLastWarning(page) {
    const warning = page.getByRole("banner").getByText(this.words.warning);
    if (this.usesJupyter) await this.runsCell(page);
    if (this.hasScripts) {
      await waitFor("the last warning", 80, () => this.level(page, "urgent"));
      await warning.first().waitFor();
      assert.match(await page.title(), /^\(\S.*\) /, "expected the time left in the title of the tab");
      await this.examine(page, "urgent");
    } else {
      // Without scripts, the bar has the time of the end, and the start page the warning.
      await page.getByRole("banner").getByText(this.words.ends).waitFor();
      const start = await this.context.newPage();
      await start.goto(this.launcher.url);
      await start.getByText(this.words.saveWork).waitFor();
      await start.close();
    }
    return this.expiry(page);
  }

  async runsCell(page) {
    const app = page.frameLocator("#app");
    await app.locator('.jp-LauncherCard[data-category="Notebook"]').first().click();
    const cell = app.locator(".jp-Notebook .jp-CodeCell").first();
    // JupyterLab ignores a cell that runs before the kernel is connected.
    await app.getByText(/\| Idle$/).waitFor({ timeout: 60_000 });
    await cell.locator(".cm-content").click();
    await page.keyboard.type("6*7");
    await page.keyboard.press("Shift+Enter");
    await cell.locator(".jp-OutputArea-output").filter({ hasText: /^\s*42\s*$/ }).waitFor({ timeout: 60_000 });
  }

  async extends(page, before) {
    const opened = this.context.waitForEvent("page");
    await this.press(page, "link", this.words.extend);
    const small = await opened;
    await small.getByRole("button", { name: this.words.extendUntil }).waitFor();
    await this.examine(small, "extend");
    await this.press(small, "button", this.words.extendUntil);
    await small.getByText(this.words.extended).waitFor();
    await this.examine(small, "extended");
    if (this.hasScripts) {
      // The window may close before the finger or the key is lifted.
      await this.press(small, "button", this.words.close).catch((error) => assert.ok(small.isClosed(), error));
      await waitFor("the window to close", 10, () => small.isClosed());
    } else {
      await small.close();
    }
    // The page says that the workshop is extended before the app's server has the new expiry.
    await waitFor("a later expiry", 20, async () => (await this.expiry(page)) > before);
  }

  async seesEnd(page, { name }) {
    const expiry = await this.expiry(page);
    const workshop = new URL(page.url());
    const instance = workshop.hostname.split(".")[0];
    if (this.hasScripts) {
      await page.getByRole("banner").getByText(this.words.over).first().waitFor({ timeout: 150_000 });
      await this.examine(page, "over");
    } else {
      // While the workshop ends, its answers may be incomplete.
      await waitFor("the end", 150, async () => (await get(page, "/", this.email).catch(() => ({}))).status === 403);
    }
    assert.ok(Date.now() > expiry - 1000, "expected no end before the extended expiry");

    await this.press(page, "link", this.words.home);
    await page.waitForURL(`${this.launcher.url}/instances/${instance}`);
    await page.getByRole("heading", { name }).waitFor();
    await page.getByRole("button", { name: this.words.launchAgain }).waitFor();
    await page.getByRole("term").filter({ hasText: this.words.why }).waitFor();
    await page.getByRole("definition").filter({ hasText: this.words.timeUp }).waitFor();
    await this.examine(page, "ended");

    assert.equal((await page.goto(workshop.origin)).status(), 403);
    await page.getByRole("heading", { name: this.words.notYours }).waitFor();
    await this.examine(page, "end-page");
    await this.press(page, "link", this.words.back);
    await page.waitForURL(`${this.launcher.url}/`);
  }

  async launchesAgain(page, { name, slide }) {
    const note = page.getByRole("note").filter({ hasText: this.words.hasEnded(name) });
    await note.getByText(this.words.timeUp).waitFor();
    await this.examine(page, "start");
    // axe is a script of the page.
    if (this.hasScripts) assert.deepEqual(await violations(page), []);
    await this.press(note, "button", this.words.launchAgain, page);
    await this.isInWorkshop(page);
    const again = new URL(page.url()).origin;
    await page.goto(slide);
    await this.press(page, "link", name);
    await page.waitForURL((url) => url.origin === again);
  }

  /** Activates the only link or button with this name. */
  async press(place, role, name, page = place) {
    await this.hand(page, place.getByRole(role, { name }));
  }

  /** Checks language, direction and width of a page, and saves a screenshot. */
  async examine(page, step) {
    const { lang, dir } = this.words;
    const root = await steadily(() => page.evaluate(() => [document.documentElement.lang, document.documentElement.dir]));
    assert.deepEqual(root, [lang, dir]);
    assert.ok((await steadily(() => overflow(page))) <= 0, `expected the page "${step}" to be as wide as the window`);
    if (lang !== "en") {
      const found = await steadily(() => untranslated(page, LIGHT_TITLE));
      assert.deepEqual(found, [], `expected no English text on the page "${step}"`);
    }
    await screenshot(page, `student-${this.slug}-${step}`);
  }

  level(page, level) {
    return page.evaluate((level) => document.body.dataset.level === level, level);
  }

  /** Returns the expiry that the workshop reports, in milliseconds. */
  async expiry(page) {
    const { text } = await get(page, "/_launcher/status", this.email);
    return Date.parse(JSON.parse(text).expires_at);
  }
}
