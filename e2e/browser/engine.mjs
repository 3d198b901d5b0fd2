// A container engine that runs no containers: it only pulls images, at the pace of the test.

import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";

const INFO = { Driver: "overlay2", DockerRootDir: "/none", MemTotal: 8 * 2 ** 30, NCPU: 4 };

/**
 * Starts the engine, which has these images. `report(percent)` reports the progress of all pulls. `end()` ends them with the
 * image, and `end(message)` without. `pulls` has the names of the pulled images.
 */
export async function startEngine(test, ...images) {
  const directory = await mkdtemp(join(tmpdir(), "engine-"));
  const socket = join(directory, "engine.sock");
  const [present, open] = [new Set(images), new Map()];
  const engine = {
    socket,
    pulls: [],
    report(percent) {
      const progress = { status: "Downloading", id: "layer", progressDetail: { current: percent, total: 100 } };
      for (const response of open.keys()) response.write(`${JSON.stringify(progress)}\n`);
    },
    end(message) {
      for (const [response, image] of open) {
        if (message === undefined) present.add(image);
        response.end(message === undefined ? "" : `${JSON.stringify({ errorDetail: { message }, error: message })}\n`);
      }
      open.clear();
    },
  };
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url, "http://engine");
    const path = pathname.replace(/^\/v[\d.]+/, "");
    const answer = (status, body) => response.writeHead(status).end(JSON.stringify(body));
    if (path === "/images/create") {
      const image = searchParams.get("fromImage");
      engine.pulls.push(image);
      open.set(response, image);
      response.writeHead(200).flushHeaders();
    } else if (path === "/events") {
      response.writeHead(200).flushHeaders();
    } else if (path.startsWith("/images/")) {
      const image = decodeURIComponent(path.slice("/images/".length, -"/json".length));
      answer(present.has(image) ? 200 : 404, { message: "no such image" });
    } else if (/^\/containers\/(?!json$)/.test(path)) {
      answer(404, { message: "no such container" });
    } else {
      const objects = { "/version": { Version: "1.0" }, "/info": INFO, "/volumes": { Volumes: [] } };
      answer(200, objects[path] ?? []);
    }
  });
  await once(server.listen(socket), "listening");
  test.after(async () => {
    server.closeAllConnections();
    server.close();
    await rm(directory, { recursive: true, force: true });
  });
  return engine;
}
