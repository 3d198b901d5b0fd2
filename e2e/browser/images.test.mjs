// The images of templates on the server of the container fleet: the admin downloads one ahead of a launch.

import assert from "node:assert/strict";
import { test } from "node:test";
import { overflow, violations } from "./axe.mjs";
import { startEngine } from "./engine.mjs";
import { ADMIN, createTemplate, launch, openPage, screenshot, send, startBrowser, startLauncher, waitFor } from "./support.mjs";

const IMAGE = "quay.io/jupyter/scipy-notebook:latest";
const SIDECAR = "localhost/sidecar:test";
const ALICE = "alice@example.org";

test("admin downloads an image, and the list shows its progress and its end by itself", async (t) => {
  const engine = await startEngine(t, SIDECAR);
  const launcher = await startLauncher(t, {
    SERVICE_FLEET: "containers",
    SERVICE_ENGINE_SOCKET: engine.socket,
    SERVICE_SIDECAR_IMAGE: SIDECAR,
    SERVICE_SEED_TEMPLATES: "",
  });
  const fields = { app_type: "notebook", image: IMAGE, command: undefined, port: undefined };
  const template = await createTemplate(launcher, "Statistics", fields);
  const browser = await startBrowser(t);
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
  await waitFor("the request to the engine", () => engine.pulls.length === 1);
  const loads = [];
  page.on("framenavigated", (frame) => loads.push(frame.url()));
  for (const percent of [25, 75]) {
    engine.report(percent);
    await row.getByText(`Downloading: ${percent} %`).waitFor();
  }
  assert.deepEqual(await violations(page), []);
  await screenshot(page, "image-downloading");
  // A launch shows the same download, which continues without it.
  const name = await launch(launcher, template, ALICE);
  const seen = () => send(launcher, "GET", `/instances/${name}`, undefined, ALICE);
  await waitFor("the step of the launch", async () => (await seen()).start_step === "pulling-image");
  assert.equal((await seen()).start_progress, 75);
  await send(launcher, "DELETE", `/instances/${name}`, undefined, ALICE);
  await waitFor("the end of the launch", async () => (await seen()).state === "terminated");
  engine.end();
  await row.getByText("Image ready on this server").waitFor();
  assert.deepEqual(loads, [], "the page was not loaded again");
  await page.locator("#announcer", { hasText: /^Statistics: Image ready on this server$/ }).waitFor({ state: "attached" });
  assert.equal(await row.getByRole("button", { name: /^Download now/ }).count(), 0);
  await screenshot(page, "image-ready");
  assert.deepEqual(engine.pulls, [IMAGE]);

  await page.goto(`${launcher.url}/admin/templates/${template}/edit`);
  await page.getByText("Image ready on this server").waitFor();
  assert.deepEqual(await violations(page), []);
  assert.equal(await overflow(page), 0);
  await screenshot(page, "image-editor");
  assert.deepEqual(complaints, []);
});
