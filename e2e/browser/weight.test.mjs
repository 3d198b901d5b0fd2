// What the first look at the catalog costs a browser that was never here: few requests, few bytes, no fonts.

import assert from "node:assert/strict";
import { test } from "node:test";
import { ADMIN, openPage, startBrowser, startLauncher, waitFor } from "./support.mjs";

const ALICE = "alice@example.org";
const MOST = { requests: 4, bytes: 33_000 };

/** Everything that this page asks for from now on: [{url, type, bytes, cached, done}]. */
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
  const { context: admin } = await openPage(t, browser, { email: ADMIN });
  for (const name of ["Statistics", "Wetlab"]) {
    const image = "quay.io/jupyter/base-notebook:latest";
    const data = { name, app_type: "notebook", image, description: `Notebooks for ${name}.` };
    const answer = await admin.request.post(`${launcher.url}/api/v1/templates/`, { data });
    assert.equal(answer.status(), 201);
  }

  const { context, page } = await openPage(t, browser, { email: ALICE });
  const log = await networkLog(context, page);
  await page.goto(launcher.url);
  assert.equal(await page.getByRole("article").count(), 4, "the whole catalog is shown");
  const icon = await page.locator("link[rel=icon]").getAttribute("href");
  const all = () => [...log.values()];
  const stream = () => all().find(({ url }) => url.endsWith("/fragments/events"));
  await waitFor("the page to open its stream", 20, stream);
  await waitFor("the icon to be asked for", 20, () => all().some(({ url }) => url.endsWith(icon)));
  await waitFor("all else to be there", 20, () => all().every((asked) => asked.done || asked === stream()));

  // The stream and what it makes the page fetch are how the view stays true, not what it is made of.
  const made = all().filter(({ type, cached }) => type !== "Fetch" && !cached);
  const later = all().filter(({ type }) => type === "Fetch");
  const bytes = (log) => log.reduce((sum, asked) => sum + asked.bytes, 0);
  const size = ({ bytes, cached }) => (cached ? "from the cache" : bytes);
  const told = all().map((asked) => `${asked.type} ${new URL(asked.url).pathname} ${size(asked)}`);
  t.diagnostic(`${made.length} requests, ${bytes(made)} bytes; to stay live ${later.length}, ${bytes(later)} bytes`);
  told.forEach((line) => t.diagnostic(line));
  assert.deepEqual(all().filter(({ failed }) => failed), [], "everything that is asked for is there");
  assert.deepEqual(all().filter(({ type }) => type === "Font"), [], "fonts are the reader's own");
  await t.test(`at most ${MOST.requests} requests`, () => {
    assert.ok(made.length <= MOST.requests, `${made.length} requests:\n${told.join("\n")}`);
  });
  await t.test(`at most ${MOST.bytes} bytes`, () => {
    assert.ok(bytes(all()) <= MOST.bytes, `${bytes(all())} bytes:\n${told.join("\n")}`);
  });
});
