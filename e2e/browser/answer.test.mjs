// The note in the bar about an app whose first page is an error or a login.

import assert from "node:assert/strict";
import { test } from "node:test";
import { overflow } from "./axe.mjs";
import { createTemplate, launchFromCard, openPage, screenshot, startBrowser, startLauncher, waitFor, workshopEntry } from "./support.mjs";

/** An app whose paths show the pages of frameworks that refuse their users. */
const APP = `
import http.server, os
PAGES = {
    "/": (200, "Fine", "The app", ""),
    "/django": (400, "", "<h1>Bad Request (400)</h1><p></p>", ""),
    "/mlflow": (403, "", "Invalid Host header - possible DNS rebinding attack detected", ""),
    "/vite": (403, "", 'Blocked request. This host ("w.example") is not allowed.', ""),
    "/jupyter": (403, "Jupyter Server", "<h1>403 : Forbidden</h1>", ""),
    "/code-server": (302, "", "", "/login?to="),
    "/login": (200, "code-server login", "<form><input type=password></form>", ""),
    "/own-login": (200, "Course login", "<form><input type=password></form>", ""),
    "/guarded": (401, "", "Unauthorized", ""),
    "/nothing": (404, "", "Not Found", ""),
    "/starting": (503, "", "Wait", ""),
}
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        code, title, text, location = PAGES.get(self.path.split("?")[0], PAGES["/nothing"])
        body = f"<!doctype html><title>{title}</title>{text}<p><a href=/>Next</a> <a href=/nothing>Missing</a></p>".encode()
        if text.startswith(("Invalid", "Blocked", "<h1>Bad")):
            body = text.encode()
        self.send_response(code)
        for name, value in (("Content-Type", "text/html"), ("Content-Length", str(len(body))), ("Location", location)):
            if value:
                self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)
http.server.ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Handler).serve_forever()
`;

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
  await createTemplate(launcher, "Refusing", { command: ["python3", "-c", APP] });
  const { context, page } = await openPage(t, browser, { email: "alice@example.org" });
  await page.goto(launcher.url);
  await launchFromCard(page, launcher, "Refusing");
  const open = workshopEntry(page, "Refusing").getByRole("link", { name: /^Open/ });
  const [tab] = await Promise.all([context.waitForEvent("page"), open.click()]);
  await tab.waitForURL(/\/_launcher\/frame$/);
  const { origin } = new URL(tab.url());
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
