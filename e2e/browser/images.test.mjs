// The images of templates on the server of the container fleet: the admin downloads one ahead of a launch.

import assert from "node:assert/strict";
import { test } from "node:test";
import { overflow, violations } from "./axe.mjs";
import { startEngine } from "./engine.mjs";
import { ADMIN, openPage, screenshot, startBrowser, startLauncher, waitFor } from "./support.mjs";

const IMAGE = "quay.io/jupyter/scipy-notebook:latest";

/** Starts a launcher whose engine pulls no image before the test says so, with one template. */
async function start(t) {
  const engine = await startEngine(t);
  const settings = {
    SERVICE_FLEET: "containers",
    SERVICE_ENGINE_SOCKET: engine.socket,
    SERVICE_SIDECAR_IMAGE: "localhost/sidecar:test",
    SERVICE_SEED_TEMPLATES: "",
  };
  const launcher = await startLauncher(t, settings);
  const template = { name: "Statistics", app_type: "notebook", image: IMAGE };
  const answer = await fetch(`${launcher.url}/api/v1/templates/`, {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-Auth-Request-Email": ADMIN },
    body: JSON.stringify(template),
  });
  assert.equal(answer.status, 201, await answer.clone().text());
  return { engine, launcher, template: (await answer.json()).template_id, browser: await startBrowser(t) };
}

test("admin downloads an image, and the list shows its progress and its end by itself", async (t) => {
  const { engine, launcher, template, browser } = await start(t);
  const { page, complaints } = await openPage(t, browser, { email: ADMIN });
  await page.goto(`${launcher.url}/admin/templates`);
  const row = page.getByRole("row", { name: /Statistics/ });
  await row.getByText("Image not on this server").waitFor();
  assert.deepEqual(await violations(page), []);
  await screenshot(page, "image-missing");
  const size = page.viewportSize();
  await page.setViewportSize({ width: 360, height: 740 });
  assert.equal(await overflow(page), 0);
  await screenshot(page, "image-missing-phone");
  await page.setViewportSize(size);
  await row.getByRole("button", { name: "Download now Statistics" }).click();
  await page.getByRole("alert").getByText("The download for Statistics continues if you leave this page.").waitFor();
  await row.getByText("Downloading the image").waitFor();
  await waitFor("the request to the engine", 20, () => engine.pulls.length === 1);
  const loads = [];
  page.on("framenavigated", (frame) => loads.push(frame.url()));
  for (const percent of [25, 75]) {
    engine.report(percent);
    await row.getByText(`Downloading: ${percent} %`).waitFor();
  }
  assert.deepEqual(await violations(page), []);
  await screenshot(page, "image-downloading");
  engine.end();
  await row.getByText("Image ready on this server").waitFor();
  assert.deepEqual(loads, [], "the page was not loaded again");
  await page.locator("#announcer", { hasText: /^Statistics: Image ready on this server$/ }).waitFor({ state: "attached" });
  assert.equal(await row.getByRole("button", { name: /^Download now/ }).count(), 0);
  const requests = [];
  page.on("request", (request) => requests.push(request.url()));
  await screenshot(page, "image-ready");
  // Longer than the interval of the updates.
  await new Promise((done) => setTimeout(done, 2500));
  assert.deepEqual(requests, [], "a ready image needs no more requests");
  assert.deepEqual(engine.pulls, [IMAGE]);

  await page.goto(`${launcher.url}/admin/templates/${template}/edit`);
  await page.getByText("Image ready on this server").waitFor();
  assert.deepEqual(await violations(page), []);
  assert.equal(await overflow(page), 0);
  await screenshot(page, "image-editor");
  assert.deepEqual(complaints, []);
});

test("failed download shows its reason and remedy, also without JavaScript", async (t) => {
  const { engine, launcher, template, browser } = await start(t);
  const { page } = await openPage(t, browser, { email: ADMIN, javaScriptEnabled: false });
  const edit = `${launcher.url}/admin/templates/${template}/edit`;
  await page.goto(edit);
  await page.getByRole("button", { name: "Download now Statistics" }).click();
  await page.getByText("Downloading the image").waitFor();
  assert.equal(page.url(), `${edit}?pulling=${template}`);
  await waitFor("the pull to begin", 10, () => engine.pulls.length === 1);
  engine.end("manifest unknown");
  await waitFor("the failure", 20, async () => {
    await page.reload();
    return page.getByText(`The image ${IMAGE} could not be downloaded: manifest unknown`).isVisible();
  });
  assert.ok(await page.getByText("Check the name and the tag of the image in the template.").isVisible());
  await screenshot(page, "image-failed");
  await page.getByRole("button", { name: "Try again Statistics" }).click();
  await page.getByText("Downloading the image").waitFor();
  await waitFor("the second pull", 10, () => engine.pulls.length === 2);
  engine.end();
  await waitFor("the image to be ready", 20, async () => {
    await page.reload();
    return page.getByText("Image ready on this server").isVisible();
  });
});
