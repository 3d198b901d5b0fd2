// A student's journeys: from a link on a slide over the waiting page into the workshop with its bar, and an extension; from
// a running workshop over its end to another launch. The journeys run at the same time, because most of it is waiting.

import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { overflow, violations } from "./axe.mjs";
import { finger, keyboard, mouse } from "./hands.mjs";
import { startSlide } from "./slide.mjs";
import { createTemplate, gated, get, launch, openPage, screenshot, send, startBrowser, startLauncher, waitFor } from "./support.mjs";
import { ARABIC, ENGLISH, untranslated } from "./words.mjs";

const WORKSHOP = /^http:\/\/[a-z0-9-]+\.localhost:\d+\/_launcher\/frame/;
/** Heading and title of the app. */
const APP_TITLE = "Directory listing for /";
const PHONE = { viewport: { width: 390, height: 740 }, hasTouch: true };
const VARIANTS = [
  { slug: "keyboard", name: "Keyboard", hand: keyboard },
  { slug: "phone", name: "مقدمة في الإحصاء", hand: finger, words: ARABIC, options: { ...PHONE, locale: "ar-EG" } },
  { slug: "no-script", name: "Plain", hand: mouse, options: { javaScriptEnabled: false } },
];
/** Lifetimes in seconds: the last warning is shown 60 s before the end, and the other journeys delay the start. */
const SHORT = { unlisted: true, lifetime_seconds: 121, max_lifetime_seconds: 121 };

test("student's journeys", { concurrency: true }, async (t) => {
  const launcher = await startLauncher(t, { SERVICE_SEED_TEMPLATES: undefined });
  const browser = await startBrowser(t);
  const journey = (variant, journey) =>
    t.test(`${variant.slug}, ${journey}`, async (t) => {
      const email = `${variant.slug}-${journey}@example.org`;
      const { context, page, complaints } = await openPage(t, browser, { email, ...variant.options });
      await new Student(variant, launcher, email, context)[journey](t, page);
      // Chromium reports the status of the page about the ended workshop.
      const others = complaints.filter((complaint) => !/status of (403|404|503) /.test(complaint));
      assert.deepEqual(others, [], "expected no script error and no violation of the content policy");
    });
  await Promise.all(VARIANTS.flatMap((variant) => [journey(variant, "works"), journey(variant, "seesEnd")]));
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
  constructor({ slug, name, hand, words = ENGLISH, options = {} }, launcher, email, context) {
    Object.assign(this, { slug, name, hand, words, launcher, email, context });
    this.hasScripts = options.javaScriptEnabled !== false;
  }

  /** Launches a workshop from a slide, extends it, and returns to it from the slide. */
  async works(t, page) {
    const gate = join(this.launcher.data, `gate-${this.slug}`);
    await createTemplate(this.launcher, this.name, { slug: this.slug, unlisted: true, ...gated(gate) });
    const slide = await startSlide(t, `${this.launcher.url}/go/${this.slug}?start=1`, this.name);
    await page.goto(slide);
    await this.press(page, "link", this.name);
    await page.waitForURL(/\/launch\/[0-9a-f-]{36}$/);
    const buttons = page.getByRole("main").getByRole("button");
    assert.deepEqual(await buttons.allTextContents(), [this.words.launch], "expected a page with one button");
    await this.examine(page, "launch");
    await this.press(page, "button", this.words.launch);
    await page.waitForURL(/\/wait$/);
    await page.getByRole("progressbar", { name: this.words.progress }).waitFor();
    await this.examine(page, "waiting");
    await writeFile(gate, "");
    await this.isInWorkshop(page);
    await this.examine(page, "workshop");
    await this.extends(page);
    const { origin } = new URL(page.url());
    await page.goto(slide);
    await this.press(page, "link", this.name);
    await page.waitForURL((url) => url.origin === origin);
  }

  /** Waits until the page has opened the workshop by itself. */
  async isInWorkshop(page) {
    await page.waitForURL(WORKSHOP);
    await page.frameLocator("#app").getByRole("heading", { name: APP_TITLE }).waitFor();
  }

  async extends(page) {
    const expiry = async () => Date.parse(JSON.parse((await get(page, "/_launcher/status", this.email)).text).expires_at);
    const before = await expiry();
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
      await waitFor("the window to close", () => small.isClosed());
    } else {
      await small.close();
    }
    // The page says that the workshop is extended before the app's server has the new expiry.
    await waitFor("a later expiry", async () => (await expiry()) > before);
  }

  /** Opens a workshop that ends soon, sees the last warning and the end, and launches another one. */
  async seesEnd(_, page) {
    const template = await createTemplate(this.launcher, this.name, SHORT);
    const instance = await launch(this.launcher, template, this.email);
    await page.goto(`${this.launcher.url}/instances/${instance}/wait`);
    await this.isInWorkshop(page);
    const { origin } = new URL(page.url());
    await this.seesLastWarning(page);
    if (this.hasScripts) {
      await page.getByRole("heading", { name: this.words.stopped }).waitFor();
      await this.examine(page, "over");
    } else {
      // While the workshop ends, its answers may be incomplete.
      await waitFor("the end", async () => (await get(page, "/", this.email).catch(() => ({}))).status === 403);
    }
    const { expires_at: expiry } = await send(this.launcher, "GET", `/instances/${instance}`);
    assert.ok(Date.now() > Date.parse(expiry) - 1000, "expected no end before the expiry");

    await this.press(page, "link", this.words.home);
    await page.waitForURL(`${this.launcher.url}/instances/${instance}`);
    await page.getByRole("heading", { name: this.name }).waitFor();
    await page.getByRole("button", { name: this.words.launchAgain }).waitFor();
    await page.getByRole("term").filter({ hasText: this.words.why }).waitFor();
    await page.getByRole("definition").filter({ hasText: this.words.timeUp }).waitFor();
    await this.examine(page, "ended");

    assert.equal((await page.goto(origin)).status(), 404);
    await page.getByRole("heading", { name: this.words.stopped }).waitFor();
    await this.examine(page, "end-page");
    await page.goto(this.launcher.url);

    const note = page.getByRole("note").filter({ hasText: this.words.hasEnded(this.name) });
    await note.getByText(this.words.timeUp).waitFor();
    await this.examine(page, "start");
    // axe is a script of the page.
    if (this.hasScripts) assert.deepEqual(await violations(page), []);
    await this.press(note, "button", this.words.launchAgain, page);
    await this.isInWorkshop(page);
  }

  async seesLastWarning(page) {
    const banner = page.getByRole("banner");
    if (this.hasScripts) {
      await waitFor("the last warning", () => page.evaluate(() => document.body.dataset.level === "urgent"));
      await banner.getByText(this.words.warning).first().waitFor();
      assert.match(await page.title(), /^\(\S.*\) /, "expected the time left in the title of the tab");
      await this.examine(page, "urgent");
    } else {
      // Without scripts, the bar has the time of the end, and the start page the warning.
      await banner.getByText(this.words.ends).waitFor();
      const start = await this.context.newPage();
      await start.goto(this.launcher.url);
      await start.getByText(this.words.saveWork).waitFor();
      await start.close();
    }
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
      const found = await steadily(() => untranslated(page, APP_TITLE));
      assert.deepEqual(found, [], `expected no English text on the page "${step}"`);
    }
    await screenshot(page, `student-${this.slug}-${step}`);
  }
}
