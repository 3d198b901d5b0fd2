// A hostile page of a workshop in a user's browser: it cannot act as the user, and cannot change the user's identity. If
// launcher and workshops share a domain, the browser sends the launcher's cookie with all requests of the page, and the page
// can set cookies for the launcher.

import assert from "node:assert/strict";
import { test } from "node:test";
import { waitFor } from "../support.mjs";
import { api, ECHO, LAUNCHER, logIn, ONE_SITE, openProfile, startChainBrowser, WORKSHOPS } from "./people.mjs";

test("hostile workshop page cannot act as the user", async (t) => {
  const browser = await startChainBrowser(t);
  const { context, page } = await openProfile(t, browser);
  await page.goto(LAUNCHER);
  await logIn(page, "bob@example.org");
  await page.waitForURL(`${LAUNCHER}/`);
  const launch = async () => (await api(page, "POST", `/templates/${ECHO}/launch`, {})).body.k8s_name;
  const running = (name) =>
    waitFor("the workshop to run", async () => {
      const { body } = await api(page, "GET", `/instances/${name}`);
      return body.state === "running" && body.url;
    });
  const [name, neighbourName] = [await launch(), await launch()];
  const [url, neighbourUrl] = [await running(name), await running(neighbourName)];
  const hostile = await context.newPage();
  await hostile.goto(url);
  await logIn(hostile, "bob@example.org");
  await hostile.waitForURL(url);
  const open = (tab, url) => tab.goto(url).then((answer) => answer.status() === 200 && tab.url() === url, () => false);
  await waitFor("the workshop to be routed", () => open(hostile, url));
  const read = async (path) => (await api(page, "GET", path)).body;
  // Workshops of earlier tests may still end.
  const live = async () => (await read("/instances/")).filter(({ state }) => state !== "terminating");
  const before = { live: await live(), me: await read("/me") };
  const unchanged = async () => {
    assert.deepEqual(await read("/me"), before.me, "expected an unchanged identity");
    assert.deepEqual(await live(), before.live, "expected unchanged instances");
  };

  await t.test("cross-origin requests from a workshop read and change nothing", async () => {
    const attempts = [
      ["POST", `/api/v1/templates/${ECHO}/launch`, "text/plain"],
      ["POST", `/api/v1/templates/${ECHO}/launch`, "application/json"],
      ["POST", `/launch/${ECHO}`, "application/x-www-form-urlencoded"],
      ["POST", `/api/v1/instances/${name}/extend`, "application/json"],
      ["POST", `/instances/${name}/end`, "application/x-www-form-urlencoded"],
      ["DELETE", `/api/v1/instances/${name}`, "text/plain"],
      ["GET", "/api/v1/me", "text/plain"],
    ];
    for (const [method, path, type] of attempts) {
      for (const mode of ["cors", "no-cors"]) {
        const got = await hostile.evaluate(
          async ([target, method, type, mode]) => {
            const body = method === "POST" ? "{}" : undefined;
            const options = { method, mode, credentials: "include", headers: { "Content-Type": type }, body };
            try {
              const answer = await fetch(target, options);
              return { type: answer.type, text: await answer.text() };
            } catch (error) {
              return { error: String(error) };
            }
          },
          [`${LAUNCHER}${path}`, method, type, mode],
        );
        assert.ok(got.error || got.text === "", `${mode} ${method} ${path} was readable: ${JSON.stringify(got)}`);
      }
    }
    await unchanged();
  });

  await t.test("cross-origin form submission from a workshop changes nothing", async () => {
    const victim = await context.newPage();
    await victim.goto(url);
    const sent = victim.waitForRequest((request) => request.url().startsWith(LAUNCHER) && request.method() === "POST");
    await victim.evaluate(([target]) => {
      const form = Object.assign(document.createElement("form"), { method: "post", action: target });
      document.body.append(form);
      form.submit();
    }, [`${LAUNCHER}/launch/${ECHO}`]);
    const request = await sent;
    const headers = await request.allHeaders();
    await victim.waitForURL((address) => address.hostname !== new URL(url).hostname);
    // In one site the launcher gets the user's session, so only its own check refuses the change.
    assert.equal(headers["sec-fetch-site"], ONE_SITE ? "same-site" : "cross-site");
    assert.equal(/__Host-_oauth2_proxy=/.test(headers.cookie), ONE_SITE, headers.cookie);
    const status = (await request.response()).status();
    assert.ok(ONE_SITE ? status === 403 : status >= 300 && status < 400, `unexpected status ${status}`);
    await victim.close();
    await unchanged();
  });

  await t.test("cross-origin WebSockets and event streams from a workshop are refused", async () => {
    const listen = async ([kind, target]) => {
      const source = kind === "socket" ? new WebSocket(target) : new EventSource(target, { withCredentials: true });
      const heard = await new Promise((resolve) =>
        ["open", "error"].forEach((name) => source.addEventListener(name, () => resolve(name))),
      );
      source.close();
      return heard;
    };
    const socket = ["socket", neighbourUrl.replace("https", "wss")];
    const stream = ["stream", `${LAUNCHER}/api/v1/events`];
    const neighbour = await context.newPage();
    await waitFor("the other workshop to be routed", () => open(neighbour, neighbourUrl));
    assert.equal(await neighbour.evaluate(listen, socket), "open", "expected the workshop's page to open a WebSocket");
    assert.equal(await page.evaluate(listen, stream), "open", "expected the launcher's pages to open an event stream");
    assert.equal(await hostile.evaluate(listen, socket), "error");
    assert.equal(await hostile.evaluate(listen, stream), "error");
    const launcher = ["socket", `${LAUNCHER.replace("https", "wss")}/api/v1/events`];
    assert.equal(await hostile.evaluate(listen, launcher), "error");
    await neighbour.close();
  });

  await t.test("launcher does not load in a frame of a workshop", async () => {
    const isIt = (request) => request.url() === `${LAUNCHER}/`;
    const asked = Promise.race([
      hostile.waitForEvent("requestfinished", isIt),
      hostile.waitForEvent("requestfailed", isIt),
    ]);
    const frame = (src) => document.body.append(Object.assign(document.createElement("iframe"), { src }));
    await hostile.evaluate(frame, `${LAUNCHER}/`);
    await asked;
    const shown = hostile.frames().map((frame) => new URL(frame.url() || "about:blank").origin);
    assert.ok(!shown.includes(LAUNCHER), `expected no launcher in the frames: ${shown}`);
  });

  await t.test("cookies set by a workshop do not change the identity", async () => {
    const host = new URL(url).hostname;
    const parent = WORKSHOPS.split(".").slice(1).join(".");
    await hostile.evaluate(
      ([domains]) => {
        const own = ["__Host-_oauth2_proxy", "__Host-_oauth2_proxy_0", "__host-_oauth2_proxy", "=__Host-_oauth2_proxy"];
        const names = [...own, "__Secure-_oauth2_proxy_workshops", "_oauth2_proxy", "_oauth2_proxy_0"];
        for (const name of names) {
          for (const domain of domains) {
            for (const path of ["/", "/api", "/api/v1", "/oauth2"]) {
              const attributes = `; Path=${path}; Secure${domain && `; Domain=${domain}`}`;
              document.cookie = `${name}=tossed${attributes}`;
            }
          }
        }
        // Chromium sets cookies asynchronously. A read waits until they are set.
        return document.cookie;
      },
      [["", host, WORKSHOPS, parent, new URL(LAUNCHER).hostname, "test"]],
    );
    const isTossed = ({ name, value }) => `${name}=${value}`.endsWith("=tossed");
    const tossed = (await context.cookies(LAUNCHER)).filter(isTossed);
    const names = new Set(tossed.map(({ name, value }) => name || value));
    // The prefix __Host- protects the session of the launcher also from pages of its own site.
    const expected = ONE_SITE ? ["__Secure-_oauth2_proxy_workshops", "_oauth2_proxy", "_oauth2_proxy_0"] : [];
    assert.deepEqual([...names].sort(), expected, "expected no other cookie set by a workshop at the launcher");
    await unchanged();
    await page.reload();
    await page.locator("#account > summary").getByText("bob@example.org").waitFor();
  });
});
