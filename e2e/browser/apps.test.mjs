// Well-known apps, launched from the cards of the template editor, opened over HTTPS under a domain other than localhost, and
// used: the presets whose programs are packages of Python or npm.

import assert from "node:assert/strict";
import { cp, mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { notebookButton, runCell } from "./lab.mjs";
import { greet, launchPreset, useTerminal, useVsCode } from "./presets.mjs";
import { certificate, startProxy } from "./proxy.mjs";
import { ROOT, freePort, openPage, screenshot, startBrowser, startLauncher } from "./support.mjs";

const PROGRAMS = process.env.TEST_APPS ?? join(ROOT, ".local/apps/bin");
const DOMAIN = "workshops.test";

/** marimo shows the field before it has run all cells, and then shows it again. */
async function useMarimo(page) {
  await page.frameLocator("#app").getByText("Hello !", { exact: true }).waitFor();
  await greet(page, (app) => app.locator("marimo-text input"));
}

/**
 * Presets: name of the card, path of the app's file in place of the preset's, use of the app, and a part of the app that is there as
 * soon as the app is usable.
 */
const PRESETS = [
  { card: "JupyterLab", use: runCell, firstPart: notebookButton },
  { card: "VS Code", use: useVsCode },
  { card: "marimo", added: "marimo/app.py", use: useMarimo },
  { card: "Streamlit", file: "streamlit/app.py", use: greet },
  { card: "Gradio", file: "gradio/app.py", use: greet },
  { card: "Shiny for Python", file: "shiny/app.py", use: greet },
  { card: "Dash", file: "dash/app.py", use: greet },
  { card: "Panel", file: "panel/app.py", use: greet },
  { card: "Voila", file: "voila/app.ipynb", use: (page) => greet(page, (app) => app.getByRole("textbox")) },
  { card: "Terminal", use: useTerminal },
  { card: "Web app", use: (page) => page.frameLocator("#app").getByRole("heading", { name: "Directory listing for /" }).waitFor() },
];

test("apps of the presets work over HTTPS under the workshop's own host", { concurrency: true }, async (t) => {
  const files = await mkdtemp(join(tmpdir(), "launcher-apps-"));
  await cp(join(import.meta.dirname, "apps"), files, { recursive: true });
  // VS Code writes its settings into the home directory.
  const home = join(files, "home");
  await mkdir(home);
  const port = await freePort();
  const launcher = await startLauncher(t, {
    HOME: home,
    PATH: `${PROGRAMS}:${process.env.PATH}`,
    SERVICE_PUBLIC_URL: `https://launcher.test:${port}`,
    SERVICE_WORKSHOP_DOMAIN: DOMAIN,
    SERVICE_REQUIRE_AUTHENTICATION: "false",
    SERVICE_DEV_IDENTITY: "dev@example.org",
    SERVICE_ADMIN_EMAILS: "dev@example.org",
    SERVICE_MAX_INSTANCES_PER_USER: String(PRESETS.length),
  });
  // After the end of VS Code, which writes its settings until then.
  t.after(() => rm(files, { recursive: true, force: true }));
  const tls = await certificate(t, "test");
  await startProxy(t, port, new URL(launcher.url).port, { "x-forwarded-proto": "https" }, tls);
  // Without the second switch, VS Code gets no service worker.
  const browser = await startBrowser(t, ["--host-resolver-rules=MAP *.test 127.0.0.1", "--ignore-certificate-errors"]);

  const started = PRESETS.map(({ card, file, added, use, firstPart }) =>
    t.test(card, async (t) => {
      const { page } = await openPage(t, browser, { ignoreHTTPSErrors: true });
      const change = async () => {
        await page.locator("#more > summary").click();
        const command = page.getByLabel("Command", { exact: true });
        const text = await command.inputValue();
        if (file) await command.fill(text.replace(/\bapp\.(py|ipynb)\b/, join(files, file)));
        if (added) await command.fill(`${text} ${join(files, added)}`);
        if (file) assert.notEqual(await command.inputValue(), text, "expected the name of a file in the command");
      };
      const clicked = await launchPreset(page, `https://launcher.test:${port}`, DOMAIN, card, { change });
      if (firstPart) {
        await firstPart(page.frameLocator("#app")).waitFor();
        t.diagnostic(`from the click to the usable ${card}, with all other apps beside it: ${Date.now() - clicked} ms`);
      }
      await use(page).finally(() => screenshot(page, `apps-${card}`));
    }),
  );
  await Promise.all(started);
});
