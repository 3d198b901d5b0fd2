// Network cost of the catalog's first view with an empty cache: few requests, few bytes, no fonts.

import assert from "node:assert/strict";
import { test } from "node:test";
import { createTemplate, openPage, startBrowser, startLauncher, waitFor } from "../support.mjs";

const ALICE = "alice@example.org";
const MOST = { requests: 4, bytes: 35_000 };

/** Records all further requests of this page. Returns a map from id to {url, type, bytes, cached, done}. */
async function networkLog(context, page) {
  const log = new Map();
  const session = await context.newCDPSession(page);
  const note = (id, facts) => log.has(id) && Object.assign(log.get(id), facts);
  session.on("Network.requestWillBeSent", ({ requestId, request, type }) =>
    log.set(requestId, { url: request.url, type, bytes: 0, cached: false, done: false }),
  );
  session.on("Network.requestServedFromCache", ({ requestId }) => note(requestId, { cached: true }));
  session.on("Network.responseReceived", ({ requestId, response }) => {
    if (response.fromDiskCache) note(requestId, { cached: true });
  });
  session.on("Network.loadingFinished", ({ requestId, encodedDataLength }) =>
    note(requestId, { bytes: encodedDataLength, done: true }),
  );
  session.on("Network.loadingFailed", ({ requestId, errorText }) => note(requestId, { failed: errorText, done: true }));
  await session.send("Network.enable");
  return log;
}

test("first view of the catalog stays within its network budget", async (t) => {
  const launcher = await startLauncher(t);
  const browser = await startBrowser(t);
  for (const name of ["Statistics", "Wetlab"]) await createTemplate(launcher, name, { description: `Notebooks for ${name}.` });
  const { context, page } = await openPage(t, browser, { email: ALICE });
  const log = await networkLog(context, page);
  await page.goto(launcher.url);
  assert.equal(await page.getByRole("article").count(), 4, "expected the whole catalog");
  const icon = await page.locator("link[rel=icon]").getAttribute("href");
  const all = () => [...log.values()];
  const stream = () => all().find(({ url }) => url.endsWith("/fragments/events"));
  await waitFor("the page to open its stream", stream);
  await waitFor("the request for the icon", () => all().some(({ url }) => url.endsWith(icon)));
  await waitFor("all other requests to complete", () => all().every((asked) => asked.done || asked === stream()));

  // Type Fetch is the event stream and its refreshes. They keep the page current and do not count as first view.
  const made = all().filter(({ type, cached }) => type !== "Fetch" && !cached);
  const later = all().filter(({ type }) => type === "Fetch");
  const bytes = (log) => log.reduce((sum, asked) => sum + asked.bytes, 0);
  const size = ({ bytes, cached }) => (cached ? "from the cache" : bytes);
  const told = all().map((asked) => `${asked.type} ${new URL(asked.url).pathname} ${size(asked)}`);
  t.diagnostic(`${made.length} requests, ${bytes(made)} bytes; to stay live ${later.length}, ${bytes(later)} bytes`);
  told.forEach((line) => t.diagnostic(line));
  assert.deepEqual(all().filter(({ failed }) => failed), [], "expected no failed request");
  assert.deepEqual(all().filter(({ type }) => type === "Font"), [], "expected no font download");
  await t.test(`first view makes at most ${MOST.requests} requests`, () => {
    assert.ok(made.length <= MOST.requests, `${made.length} requests:\n${told.join("\n")}`);
  });
  await t.test(`first view transfers at most ${MOST.bytes} bytes`, () => {
    assert.ok(bytes(all()) <= MOST.bytes, `${bytes(all())} bytes:\n${told.join("\n")}`);
  });
});
