// The note in the bar about an app whose first page is an error or a login.

import assert from "node:assert/strict";
import { test } from "node:test";
import { overflow } from "./axe.mjs";
import { appWith, createTemplate, openPage, runWorkshop, screenshot, startBrowser, startLauncher, waitFor } from "./support.mjs";

const ALICE = "alice@example.org";
const LINKS = "<p><a href=/>Next</a> <a href=/nothing>Missing</a></p>";
const form = (title) => `<!doctype html><title>${title}</title><form><input type=password></form>${LINKS}`;
/** Pages of frameworks that refuse their users. */
const PAGES = {
  "/": `<!doctype html><title>Fine</title>The app${LINKS}`,
  "/django": { status: 400, html: "<h1>Bad Request (400)</h1><p></p>" },
  "/mlflow": { status: 403, html: "Invalid Host header - possible DNS rebinding attack detected" },
  "/vite": { status: 403, html: 'Blocked request. This host ("w.example") is not allowed.' },
  "/jupyter": { status: 403, html: "<!doctype html><title>Jupyter Server</title><h1>403 : Forbidden</h1>" },
  "/code-server": { status: 302, html: "", headers: { Location: "/login?to=" } },
  "/login": form("code-server login"),
  "/own-login": form("Course login"),
  "/guarded": { status: 401, html: "Unauthorized" },
  "/starting": { status: 503, html: "Wait" },
  "*": { status: 404, html: `<!doctype html><title></title>Not Found${LINKS}` },
};

const REFUSES = "The app does not accept the address of this workshop. The template needs: ";
const ASKS = "The app asks for a password.";

/** First page of the app, and the note in the bar. */
const NOTES = [
  ["/django", `${REFUSES}ALLOWED_HOSTS = [os.environ["WORKSHOP_HOST"].split(":")[0]]`],
  ["/mlflow", `${REFUSES}--allowed-hosts $(HOST) --cors-allowed-origins $(ORIGIN)`],
  ["/vite", `${REFUSES}allowedHosts: [process.env.WORKSHOP_HOST.split(":")[0]]`],
  ["/jupyter", `${REFUSES}app_type: notebook`],
  ["/code-server", `${ASKS} The template needs: --auth=none`],
  ["/guarded", ASKS],
  ["/nothing", "The app answered 404."],
];

test("bar says why the first page of an app is not usable", async (t) => {
  const launcher = await startLauncher(t);
  const browser = await startBrowser(t);
  const template = await createTemplate(launcher, "Refusing", appWith(PAGES));
  const { page: tab } = await openPage(t, browser, { email: ALICE });
  const { origin } = await runWorkshop(launcher, template, ALICE);
  const note = tab.locator("#answer");
  const app = tab.frameLocator("#app");
  const show = (path) => tab.goto(`${origin}/_launcher/frame?path=${path}`, { waitUntil: "load" });

  for (const [path, expected] of NOTES) {
    await t.test(`${path}: ${expected}`, async () => {
      await show(path);
      await waitFor("the note", async () => (await note.textContent()) === expected);
    });
  }

  await t.test("note is in the bar, also on a phone", async () => {
    await show("/mlflow");
    await note.getByText("--allowed-hosts").waitFor();
    await screenshot(tab, "frame-answer");
    await tab.setViewportSize({ width: 390, height: 740 });
    await screenshot(tab, "frame-answer-phone");
    assert.ok((await overflow(tab)) <= 0, "expected no page wider than a phone");
    await tab.setViewportSize({ width: 1100, height: 800 });
  });

  await t.test("note goes with the next page, and later errors of the app give none", async () => {
    await show("/nothing");
    await note.getByText("404").waitFor();
    await app.getByRole("link", { name: "Next" }).click();
    await waitFor("the note to go", async () => (await note.textContent()) === "");
    await app.getByRole("link", { name: "Missing" }).click();
    await tab.waitForURL(/path=\/nothing$/);
    assert.equal(await note.textContent(), "");
  });

  await t.test("usable page, login of an unknown app, and temporary answer have no note", async () => {
    for (const path of ["/", "/own-login", "/starting"]) {
      await show(path);
      assert.equal(await note.textContent(), "", path);
    }
  });
});
