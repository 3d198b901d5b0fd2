// A class day on a cluster, whose provider keeps a session for each browser.

import { test } from "node:test";
import { classDay } from "../class-day.mjs";
import { LAUNCHER, logIn, openProfile, startChainBrowser, WORKSHOPS } from "./people.mjs";

const { LOGIN_TRAEFIK, LOGIN_SSO } = process.env;

test("class day", async (t) => {
  const browser = await startChainBrowser(t);
  await classDay(t, {
    launcher: LAUNCHER,
    domain: WORKSHOPS,
    open: (t) => openProfile(t, browser),
    logIn,
    enter: () => {},
    addressOf: (host) => (host === "sso.test" ? LOGIN_SSO : LOGIN_TRAEFIK),
    passwordOf: () => "password",
    image: "localhost/workshop-launcher/http:test",
    repository: process.env.COURSE_REPOSITORY,
  });
});
