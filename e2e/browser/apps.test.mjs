// Well-known apps, opened over HTTPS under a domain other than localhost, and used: the presets, launched from the cards of the
// template editor, and the other frameworks of docs/apps.md, with their settings there. Their programs are packages of Python or
// npm.

import assert from "node:assert/strict";
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { notebookButton, runCell } from "./lab.mjs";
import { greet, launchPreset, useTerminal, useVsCode } from "./presets.mjs";
import { certificate, startProxy } from "./proxy.mjs";
import { ROOT, freePort, openPage, screenshot, sendFrom, startBrowser, startLauncher, waitFor } from "./support.mjs";

const PROGRAMS = process.env.TEST_APPS ?? join(ROOT, ".local/apps/bin");
const APPS = join(import.meta.dirname, "apps");
const DOMAIN = "workshops.test";

const app = (page) => page.frameLocator("#app");

/** marimo shows the field before it has run all cells, and then shows it again. */
async function useMarimo(page) {
  await app(page).getByText("Hello !", { exact: true }).waitFor();
  await greet(page, (app) => app.locator("marimo-text input"));
}

/**
 * Presets: name of the card, file of the app in place of the preset's, words at the end of the command, use of the app, and a part of
 * the app that is there as soon as the app is usable.
 */
const PRESETS = [
  { card: "JupyterLab", use: runCell, firstPart: notebookButton },
  { card: "VS Code", use: useVsCode },
  { card: "marimo", added: "APPS/marimo/app.py", use: useMarimo },
  { card: "Streamlit", file: "streamlit/app.py", use: greet },
  { card: "Gradio", file: "gradio/app.py", use: greet },
  { card: "Shiny for Python", file: "shiny/app.py", use: greet },
  { card: "Dash", file: "dash/app.py", use: greet },
  { card: "Panel", file: "panel/app.py", use: greet },
  { card: "Voila", file: "voila/app.ipynb", use: (page) => greet(page, (app) => app.getByRole("textbox")) },
  { card: "Terminal", use: useTerminal },
  { card: "Web app", added: "--directory APPS/web", use: greet },
];

/** Sends a form. The app knows its address. */
async function sendForm(page) {
  await app(page).getByText(`${new URL(page.url()).origin}/`, { exact: true }).waitFor();
  await app(page).getByLabel("Name", { exact: true }).fill("Ada");
  await app(page).getByLabel("Name", { exact: true }).press("Enter");
  await app(page).getByText("Hello Ada!", { exact: true }).waitFor();
}

/** Changes a file of the app. Vite's WebSocket tells the open page. */
async function changeFile(page, folder) {
  await app(page).getByText("Hello !", { exact: true }).waitFor();
  const script = await readFile(join(folder, "main.js"), "utf8");
  // A change before the WebSocket is open has no effect on the page.
  await waitFor("the page to change", async () => {
    await writeFile(join(folder, "main.js"), script.replace("Hello ", "Hello Ada"));
    return app(page).getByText("Hello Ada!", { exact: true }).waitFor({ timeout: 5_000 }).then(() => true, () => false);
  });
}

const listFiles = (page) => app(page).getByRole("menuitem", { name: "New", exact: true }).waitFor();

/**
 * Frameworks: name in the table of docs/apps.md, folder of the app in apps/, and use of the app. With `refuses`, the command has
 * these words without the settings of the table, and the app refuses its users.
 */
const FRAMEWORKS = [
  { name: "Jupyter Notebook 7", fields: { app_type: "notebook" }, use: listFiles },
  { name: "Django", folder: "django", use: sendForm, refuses: "" },
  { name: "Flask", folder: "flask", use: sendForm },
  { name: "FastAPI, Uvicorn", folder: "fastapi", use: sendForm },
  { name: "Vite", folder: "vite", use: changeFile, refuses: " --host 127.0.0.1" },
  { name: "Bokeh", folder: "bokeh", use: (page) => greet(page) },
];

/** Returns the rows of this table: [{name, command, file, settings}], without the untested frameworks. */
async function documentedFrameworks() {
  const [, section] = (await readFile(join(ROOT, "docs/apps.md"), "utf8")).split("\n## Settings of other frameworks\n");
  const rows = section.split("\n## ")[0].split("\n").map((line) => line.split("|").slice(1, -1).map((cell) => cell.trim()));
  const code = (cell) => Array.from(cell.matchAll(/`([^`]+)`/g), ([, text]) => text);
  return rows.filter((cells) => cells.at(-1) === "yes").map(([name, command, settings]) => {
    const [file, ...lines] = code(settings);
    return { name, command: code(command)[0], file, settings: lines };
  });
}

/**
 * Starts a launcher behind an HTTPS proxy, and a browser. Its user is an admin. Returns the launcher's address, a folder with copies
 * of the apps, and a function that opens a page.
 */
async function startHost(t, settings = {}) {
  const files = await mkdtemp(join(tmpdir(), "launcher-apps-"));
  await cp(APPS, files, { recursive: true });
  // VS Code writes its settings into the home directory.
  const home = join(files, "home");
  await mkdir(home);
  const port = await freePort();
  const address = `https://launcher.test:${port}`;
  const launcher = await startLauncher(t, {
    HOME: home,
    PATH: `${PROGRAMS}:${join(import.meta.dirname, "node_modules/.bin")}:${process.env.PATH}`,
    SERVICE_PUBLIC_URL: address,
    SERVICE_WORKSHOP_DOMAIN: DOMAIN,
    SERVICE_REQUIRE_AUTHENTICATION: "false",
    SERVICE_DEV_IDENTITY: "dev@example.org",
    SERVICE_ADMIN_EMAILS: "dev@example.org",
    ...settings,
  });
  // After the end of VS Code, which writes its settings until then.
  t.after(() => rm(files, { recursive: true, force: true }));
  const tls = await certificate(t, "test");
  await startProxy(t, port, new URL(launcher.url).port, { "x-forwarded-proto": "https" }, tls);
  // Without the second switch, VS Code gets no service worker.
  const browser = await startBrowser(t, ["--host-resolver-rules=MAP *.test 127.0.0.1", "--ignore-certificate-errors"]);
  return { address, files, open: async (t) => (await openPage(t, browser, { ignoreHTTPSErrors: true })).page };
}

test("apps of the presets work over HTTPS under the workshop's own host", { concurrency: true }, async (t) => {
  const { address, files, open } = await startHost(t);
  const started = PRESETS.map(({ card, file, added, use, firstPart }) =>
    t.test(card, async (t) => {
      const page = await open(t);
      const change = async () => {
        await page.locator("#more > summary").click();
        const command = page.getByLabel("Command", { exact: true });
        const text = await command.inputValue();
        if (file) await command.fill(text.replace(/\bapp\.(py|ipynb)\b/, join(files, file)));
        if (added) await command.fill(`${text} ${added.replace("APPS", files)}`);
        if (file) assert.notEqual(await command.inputValue(), text, "expected the name of a file in the command");
      };
      const clicked = await launchPreset(page, address, DOMAIN, card, { change });
      if (firstPart) {
        await firstPart(app(page)).waitFor();
        t.diagnostic(`from the click to the usable ${card}, with all other apps beside it: ${Date.now() - clicked} ms`);
      }
      await use(page).finally(() => screenshot(page, `apps-${card}`));
    }),
  );
  await Promise.all(started);
});

test("frameworks work with the settings of the documentation, and the bar names those that are missing", { concurrency: true }, async (t) => {
  const documented = await documentedFrameworks();
  assert.deepEqual(documented.map(({ name }) => name), FRAMEWORKS.map(({ name }) => name));
  const { address, files, open } = await startHost(t, { SERVICE_LOCAL_JUPYTER: join(PROGRAMS, "jupyter-notebook") });

  /** Launches an app in a folder, or with these fields of a template, and waits for the frame page. */
  const launch = async (page, name, folder, command, fields) => {
    // The words of the document run as they are there, in the folder of the app.
    const custom = { app_type: "custom", command: ["sh", "-c", 'cd "$0" && exec "$@"', folder, ...command.split(" ")] };
    const template = { name, image: "example.org/x", port: 8000, ...(fields ?? custom) };
    await page.goto(`${address}/history`);
    const { template_id } = await sendFrom(page, "POST", "/templates/", template);
    const { k8s_name } = await sendFrom(page, "POST", `/templates/${template_id}/launch`, {});
    await page.goto(`${address}/instances/${k8s_name}/open`);
    await page.waitForURL((url) => url.hostname.endsWith(DOMAIN) && url.pathname === "/_launcher/frame", { waitUntil: "commit" });
  };
  /** Copies an app, with these lines in its file of settings. Returns the folder of the copy. */
  const copy = async (folder, file, lines) => {
    const made = await mkdtemp(join(files, `${folder}-`));
    await cp(join(APPS, folder), made, { recursive: true });
    if (!file) return made;
    const text = await readFile(join(made, file), "utf8");
    assert.match(text, /(#|\/\/) SETTINGS/);
    await writeFile(join(made, file), text.replace(/(#|\/\/) SETTINGS/, lines.join("\n")));
    return made;
  };

  const started = FRAMEWORKS.flatMap(({ name, folder, fields, use, refuses }, at) => {
    const { command, file, settings } = documented[at];
    const works = t.test(name, async (t) => {
      const page = await open(t);
      const place = folder && (await copy(folder, file, settings));
      await launch(page, name, place, command, fields);
      await use(page, place).finally(() => screenshot(page, `apps-${name}`));
      assert.equal(await page.locator("#answer").textContent(), "", "expected no note in the bar");
    });
    if (refuses === undefined) return [works];
    const isRefused = t.test(`${name}, without its settings`, async (t) => {
      const page = await open(t);
      await launch(page, name, await copy(folder, file, []), command + refuses);
      await page.locator("#answer").getByText("The app does not accept the address of this workshop.").waitFor();
      const line = await page.locator("#answer code").textContent();
      assert.ok(settings.some((setting) => setting.includes(line)), `expected the line ${line} in docs/apps.md`);
    });
    return [works, isRefused];
  });
  await Promise.all(started);
});
