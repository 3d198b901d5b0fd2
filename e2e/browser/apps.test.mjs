// Well-known apps, launched from the cards of the template editor, opened over HTTPS under a domain other than localhost, and
// used: the presets that the Python registry offers.

import assert from "node:assert/strict";
import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { runCell } from "./lab.mjs";
import { certificate, startProxy } from "./proxy.mjs";
import { ROOT, freePort, openPage, screenshot, startBrowser, startLauncher } from "./support.mjs";

const PROGRAMS = process.env.TEST_APPS ?? join(ROOT, ".local/apps/bin");
const DOMAIN = "workshops.test";

/** Types a name, and waits for the greeting that the app computes from it. */
async function greet(page, input = (app) => app.getByLabel("Name", { exact: true })) {
  const app = page.frameLocator("#app");
  const name = input(app);
  await name.click();
  await name.pressSequentially("Ada");
  await name.press("Tab");
  await app.getByText("Hello Ada!", { exact: true }).first().waitFor();
}

/** Presets: name of the card, path of the app's file in place of the preset's, and use of the app. */
const PRESETS = [
  { card: "JupyterLab", use: runCell },
  { card: "marimo", added: "marimo/app.py", use: (page) => greet(page, (app) => app.locator("marimo-text input")) },
  { card: "Streamlit", file: "streamlit/app.py", use: greet },
  { card: "Gradio", file: "gradio/app.py", use: greet },
  { card: "Shiny for Python", file: "shiny/app.py", use: greet },
  { card: "Dash", file: "dash/app.py", use: greet },
  { card: "Panel", file: "panel/app.py", use: greet },
  { card: "Voila", file: "voila/app.ipynb", use: (page) => greet(page, (app) => app.getByRole("textbox")) },
  { card: "Web app", use: (page) => page.frameLocator("#app").getByRole("heading", { name: "Directory listing for /" }).waitFor() },
];

test("apps of the presets work over HTTPS under the workshop's own host", { concurrency: true }, async (t) => {
  const files = await mkdtemp(join(tmpdir(), "launcher-apps-"));
  t.after(() => rm(files, { recursive: true, force: true }));
  await cp(join(import.meta.dirname, "apps"), files, { recursive: true });
  const port = await freePort();
  const launcher = await startLauncher(t, {
    PATH: `${PROGRAMS}:${process.env.PATH}`,
    SERVICE_PUBLIC_URL: `https://launcher.test:${port}`,
    SERVICE_WORKSHOP_DOMAIN: DOMAIN,
    SERVICE_REQUIRE_AUTHENTICATION: "false",
    SERVICE_DEV_IDENTITY: "dev@example.org",
    SERVICE_ADMIN_EMAILS: "dev@example.org",
    SERVICE_MAX_INSTANCES_PER_USER: String(PRESETS.length),
  });
  const tls = await certificate(t, "test");
  await startProxy(t, port, new URL(launcher.url).port, { "x-forwarded-proto": "https" }, tls);
  const browser = await startBrowser(t, ["--host-resolver-rules=MAP *.test 127.0.0.1"]);

  const started = PRESETS.map(({ card, file, added, use }) =>
    t.test(card, async (t) => {
      const { page } = await openPage(t, browser, { ignoreHTTPSErrors: true });
      await page.goto(`https://launcher.test:${port}/admin/templates/new`);
      await page.getByRole("link", { name: card, exact: true }).click();
      await page.locator("#more > summary").click();
      const command = page.getByLabel("Command", { exact: true });
      const text = await command.inputValue();
      if (file) await command.fill(text.replace(/\bapp\.(py|ipynb)\b/, join(files, file)));
      if (added) await command.fill(`${text} ${join(files, added)}`);
      if (file) assert.notEqual(await command.inputValue(), text, "expected the name of a file in the command");
      await page.getByRole("button", { name: "Save and try" }).click();
      await page.getByRole("button", { name: "Launch", exact: true }).click();
      await page.waitForURL((url) => url.hostname.endsWith(DOMAIN) && url.pathname === "/_launcher/frame", { waitUntil: "commit" });
      await use(page);
      await screenshot(page, `apps-${card}`);
    }),
  );
  await Promise.all(started);
});
