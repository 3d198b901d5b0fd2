// Pages that the app opens in tabs of their own: they have the bar, too, and still work.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { ADMIN, appWith, createTemplate, openPage, runWorkshop, screenshot, startBrowser, startLauncher, waitFor } from "./support.mjs";

/** Each page may be cached by browsers. */
const cached = (html, headers = {}) => ({ html: `<!doctype html><title>App</title>${html}`, headers: { "Cache-Control": "max-age=3600", ...headers } });
/** A start page that opens other pages in several ways. `/leave` leaves every frame, `/small` talks to the page that opened it. */
const PAGES = {
  "/": cached(
    "<a target=_blank href='/other?a=1#part'>Other</a> <a href='/other?a=1'>Same tab</a> <a target=_blank href=/file>File</a>" +
    "<a target=_blank href=/saved.html download>Save</a> <button onclick='top.location = \"/other?b\"'>Leave</button>" +
    "<button onclick='window.open(\"/small\", \"s\", \"popup,width=300,height=200\")'>Small</button>" +
    "<button onclick='window.open(\"/closing\")'>Closing</button>",
  ),
  "/other": cached("<h1>Other page</h1><output></output><script>document.querySelector('output').textContent = location.hash</script>"),
  "/leave": cached("<h1>Alone</h1><script>if (top !== self) top.location = self.location</script>"),
  "/small": cached("<h1>Small page</h1><script>opener.document.body.append('heard')</script>"),
  "/closing": cached("<button onclick=window.close()>Close</button>"),
  "/saved.html": cached("<h1>Saved</h1>"),
  "/file": cached("file of the app", { "Content-Disposition": "attachment; filename=file.txt" }),
};

test("pages that the app opens in tabs have the bar", async (t) => {
  // The browser's requests for downloads have no header of the test.
  const launcher = await startLauncher(t, { SERVICE_REQUIRE_AUTHENTICATION: "false", SERVICE_DEV_IDENTITY: ADMIN });
  const browser = await startBrowser(t);
  const { context, page } = await openPage(t, browser);
  const complaints = [];
  context.on("weberror", (error) => complaints.push(error.error().message));

  /** Launches the app, and opens its frame page. Returns the workshop's origin. */
  async function open(name, fields) {
    const template = await createTemplate(launcher, name, { ...appWith(PAGES), ...fields });
    const { origin, url } = await runWorkshop(launcher, template, ADMIN);
    await page.goto(url);
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
