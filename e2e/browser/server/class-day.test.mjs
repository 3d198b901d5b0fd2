// A class day on one server, whose Dex has local accounts and keeps no session: the workshops' domain needs a second login.

import assert from "node:assert/strict";
import { test } from "node:test";
import { classDay } from "../class-day.mjs";
import { openPage, startBrowser } from "../support.mjs";
import { LAUNCHER, SWITCHES, logIn, passwordOf } from "./log-in.mjs";

test("class day", async (t) => {
  const browser = await startBrowser(t, SWITCHES);
  const teacher = await classDay(t, {
    launcher: LAUNCHER,
    domain: "workshops.test",
    open: (t) => openPage(t, browser, { ignoreHTTPSErrors: true }),
    logIn,
    enter: logIn,
    addressOf: () => process.env.SERVER_ADDRESS,
    passwordOf,
    image: "localhost/workshop-launcher/http:test",
    repository: process.env.COURSE_REPOSITORY,
  });

  await t.test("teacher signs out", async () => {
    await teacher.locator("#account > summary").click();
    await teacher.getByRole("link", { name: "Sign out" }).click();
    await teacher.waitForURL(`${LAUNCHER}/signed-out`);
    const names = (await teacher.context().cookies()).filter((cookie) => /oauth2_proxy(_workshops)?$/.test(cookie.name));
    assert.deepEqual(names, [], "expected no session cookie of launcher or workshops");
  });
});
