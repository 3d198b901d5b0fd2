// A slide: a page of another site with a link.

import { createServer } from "node:http";
import { freePort } from "./support.mjs";

/** Serves a slide with one link until the end of the test. Returns the address of the slide. */
export async function startSlide(t, link, text) {
  const style = "<style>a:focus-visible { outline: 2px solid; }</style>";
  const slide = `<!doctype html><meta charset="utf-8"><title>Slide</title>${style}<p><a href="${link}">${text}</a></p>`;
  const port = await freePort();
  const server = createServer((_, response) => response.setHeader("Content-Type", "text/html").end(slide));
  server.listen(port, "127.0.0.1");
  t.after(() => server.close());
  return `http://127.0.0.1:${port}/`;
}
