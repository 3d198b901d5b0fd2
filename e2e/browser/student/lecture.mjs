// A lecture: templates that end soon, and slides with links to them.

import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { startSlide } from "../slide.mjs";
import { ADMIN } from "../support.mjs";

/** Lifetimes in seconds: the first warning is shown until 60 s before the end. One extension of 10 s is possible. */
const TIMES = { lifetime_seconds: 105, extension_seconds: 60, max_lifetime_seconds: 115 };

/** An app that listens only when a file exists, so that the waiting page stays until the test has examined it. */
const LIGHT = {
  app_type: "custom",
  image: "docker.io/library/python:3.13-alpine",
  port: 8000,
  command: ["sh", "-c", 'until [ -e "$GATE" ]; do sleep 0.1; done; exec python3 -m http.server "$PORT" --bind 127.0.0.1'],
};
/** Heading and title of the light app. */
export const LIGHT_TITLE = "Directory listing for /";
const JUPYTERLAB = { app_type: "notebook", image: "quay.io/jupyter/base-notebook:latest" };

/**
 * Creates a template with a short link, and a slide with this link on another site.
 *
 * Returns the name of the template, the address of the slide, and a function that lets the app start.
 */
export async function prepareLecture(t, launcher, { slug, name, usesJupyter }) {
  const gate = join(launcher.data, `gate-${slug}`);
  const app = usesJupyter ? JUPYTERLAB : { ...LIGHT, env: { GATE: gate } };
  const answer = await fetch(`${launcher.url}/api/v1/templates/`, {
    method: "POST",
    headers: { "X-Auth-Request-Email": ADMIN, "Content-Type": "application/json" },
    body: JSON.stringify({ name, slug, unlisted: true, ...app, ...TIMES }),
  });
  assert.equal(answer.status, 201, await answer.text());
  const slide = await startSlide(t, `${launcher.url}/go/${slug}?start=1`, name);
  return { name, slide, letAppStart: () => writeFile(gate, "") };
}
