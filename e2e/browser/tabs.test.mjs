// Pages that the app opens in tabs of their own: they have the bar, too, and still work.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { ADMIN, createTemplate, launch, openPage, screenshot, send, startBrowser, startLauncher, waitFor } from "./support.mjs";

/**
 * An app whose start page opens other pages in several ways. Browsers may cache its pages. `/leave` leaves every frame, and
 * `/small` talks to the page that opened it. `/requests` returns the paths of all requests.
 */
const APP = `
import http.server, json, os
PAGES = {
    "/": "<a target=_blank href='/other?a=1#part'>Other</a> <a href='/other?a=1'>Same tab</a> <a target=_blank href=/file>File</a>"
         "<a target=_blank href=/saved.html download>Save</a> <button onclick='top.location = \\"/other?b\\"'>Leave</button>"
         "<button onclick='window.open(\\"/small\\", \\"s\\", \\"popup,width=300,height=200\\")'>Small</button>"
         "<button onclick='window.open(\\"/closing\\")'>Closing</button>",
    "/other": "<h1>Other page</h1><output></output><script>document.querySelector('output').textContent = location.hash</script>",
    "/leave": "<h1>Alone</h1><script>if (top !== self) top.location = self.location</script>",
    "/small": "<h1>Small page</h1><script>opener.document.body.append('heard')</script>",
    "/closing": "<button onclick=window.close()>Close</button>",
    "/saved.html": "<h1>Saved</h1>",
}
SEEN = []
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        SEEN.append(self.path)
        name = self.path.split("?")[0]
        body = json.dumps(SEEN) if name == "/requests" else "<!doctype html><title>App</title>" + PAGES.get(name, "file of the app")
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store" if name == "/requests" else "max-age=3600")
        if name == "/file":
            self.send_header("Content-Disposition", "attachment; filename=file.txt")
        self.end_headers()
        self.wfile.write(body.encode())
http.server.ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Handler).serve_forever()
`;

test("pages that the app opens in tabs have the bar", async (t) => {
  // The browser's requests for downloads have no header of the test.
  const launcher = await startLauncher(t, { SERVICE_REQUIRE_AUTHENTICATION: "false", SERVICE_DEV_IDENTITY: ADMIN });
  const browser = await startBrowser(t);
  const { context, page } = await openPage(t, browser);
  const complaints = [];
  context.on("weberror", (error) => complaints.push(error.error().message));

  /** Launches the app, and opens its frame page. Returns the workshop's origin. */
  async function open(name, fields) {
    const template = await createTemplate(launcher, name, { command: ["python3", "-c", APP], ...fields });
    const workshop = await launch(launcher, template, ADMIN);
    const row = await waitFor("the workshop to run", async () => {
      const found = await send(launcher, "GET", `/instances/${workshop}`);
      return found.state === "running" && found;
    });
    const { origin } = new URL(row.url);
    await page.goto(`${origin}/_launcher/frame`);
    return origin;
  }
  const origin = await open("Tabs");
  const inside = (tab) => tab.frameLocator("#app");
  const bar = (tab) => tab.getByRole("banner").getByText(/^\d.* left$/).waitFor();
  const click = async (role, name) => (await Promise.all([page.waitForEvent("popup"), inside(page).getByRole(role, { name }).click()]))[0];

  await t.test("link to a new tab, with its query and fragment, also if the browser has cached the page", async () => {
    await inside(page).getByRole("link", { name: "Same tab" }).click();
    await inside(page).getByRole("heading", { name: "Other page" }).waitFor();
    await page.goto(`${origin}/_launcher/frame`);
    const tab = await click("link", "Other");
    await bar(tab);
    await inside(tab).getByText("#part", { exact: true }).waitFor();
    await tab.waitForURL(`${origin}/_launcher/frame?path=/other%3Fa%3D1%23part`);
    await screenshot(tab, "tab");
    await tab.reload();
    await bar(tab);
    await inside(tab).getByText("#part", { exact: true }).waitFor();
    await tab.close();
  });

  await t.test("page that puts another page in place of the frame page", async () => {
    await inside(page).getByRole("button", { name: "Leave" }).click();
    await page.waitForURL(`${origin}/_launcher/frame?path=/other%3Fb`);
    await inside(page).getByRole("heading", { name: "Other page" }).waitFor();
    await bar(page);
  });

  await t.test("page that leaves every frame is shown alone, without an endless loop", async () => {
    const tab = await context.newPage();
    await tab.goto(`${origin}/_launcher/frame?path=/leave`);
    await tab.waitForURL(`${origin}/leave`);
    await tab.getByRole("heading", { name: "Alone" }).waitFor();
    const seen = await tab.evaluate(async () => (await fetch("/requests")).json());
    const count = seen.filter((path) => path === "/leave").length;
    assert.ok(count <= 6, `${count} requests`);
    await tab.close();
  });

  await t.test("small window talks to the page that opened it, and has no bar", async () => {
    await page.goto(`${origin}/_launcher/frame`);
    const small = await click("button", "Small");
    await small.waitForURL(`${origin}/small`);
    await small.getByRole("heading", { name: "Small page" }).waitFor();
    await inside(page).getByText("heard").waitFor();
    await small.close();
  });

  await t.test("page closes the tab that the app opened for it", async () => {
    const tab = await click("button", "Closing");
    await bar(tab);
    const closed = tab.waitForEvent("close");
    // The tab may close before the click returns.
    await inside(tab).getByRole("button", { name: "Close" }).click().catch(() => {});
    await closed;
  });

  await t.test("files are downloaded", async () => {
    const downloads = [];
    const listen = (tab) => tab.on("download", (download) => downloads.push(download));
    listen(page);
    context.on("page", listen);
    for (const [name, content] of [["Save", "Saved"], ["File", "file of the app"]]) {
      await inside(page).getByRole("link", { name }).click();
      const download = await waitFor(`the download of ${name}`, () => downloads.shift());
      assert.match(await readFile(await download.path(), "utf8"), new RegExp(content), name);
    }
    await waitFor("the tab of the download to close", () => context.pages().length === 1);
  });

  await t.test("template without the bar in other tabs", async () => {
    const plain = await open("Plain", { plain_tabs: true });
    await bar(page);
    const tab = await click("link", "Other");
    await tab.waitForURL(`${plain}/other?a=1#part`);
    await tab.getByRole("heading", { name: "Other page" }).waitFor();
  });

  assert.deepEqual(complaints, []);
});
