// Functions to log in at the provider. The Chromium resolves host names to the addresses in the environment variables
// LOGIN_TRAEFIK, LOGIN_DEX and LOGIN_SSO. LOGIN_HOST and LOGIN_DOMAIN name the launcher's host and the workshops' domain.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { openPage, startBrowser } from "../support.mjs";

const { LOGIN_HOST = "launcher.test", LOGIN_DOMAIN = "workshops.test" } = process.env;
export const LAUNCHER = `https://${LOGIN_HOST}`;
export const WORKSHOPS = LOGIN_DOMAIN;
/** True if launcher and workshops share a domain, so that browsers see one site. */
export const ONE_SITE = LOGIN_HOST.endsWith(`.${LOGIN_DOMAIN}`);
export const JUPYTERLAB = "01980000-0000-7000-8000-000000000001";
export const ECHO = "01980000-0000-7000-8000-000000000002";

/** Starts a Chromium that resolves the hosts of launcher, workshops and login providers to the cluster. */
export function startChainBrowser(test) {
  const { LOGIN_TRAEFIK: traefik, LOGIN_DEX: dex, LOGIN_SSO: sso } = process.env;
  const names = { [LOGIN_HOST]: traefik, [`*.${WORKSHOPS}`]: traefik, "dex.test": dex, "sso.test": sso };
  const rules = Object.entries(names).map(([name, address]) => `MAP ${name} ${address}`);
  return startBrowser(test, [`--host-resolver-rules=${rules.join(", ")}`, "--ignore-certificate-errors"]);
}

/** Opens a page in a new browser profile. */
export const openProfile = (test, browser) => openPage(test, browser, { ignoreHTTPSErrors: true });

/** Waits for the login form of a provider, fills it in, and submits it. */
export async function logIn(page, email, provider = /^http:\/\/(dex\.test:5556|sso\.test:5557)\//) {
  await page.waitForURL(provider);
  await page.locator('input[name="login"]').fill(email);
  await page.locator('input[name="password"]').fill("password");
  await page.locator('button[type="submit"]').click();
}

/** Sends an API request with this profile's session, from a new tab of the launcher. Returns {status, body}. */
export async function api(page, method, path, sent) {
  const tab = await page.context().newPage();
  await tab.goto(`${LAUNCHER}/history`);
  const answer = await tab.evaluate(
    async ([method, path, sent]) => {
      const content = sent && { headers: { "Content-Type": "application/json" }, body: JSON.stringify(sent) };
      const answer = await fetch(`/api/v1${path}`, { method, redirect: "manual", ...content });
      return { status: answer.status, body: await answer.json().catch(() => null) };
    },
    [method, path, sent],
  );
  await tab.close();
  return answer;
}

/**
 * Logs in as an admin, and creates a template like this one, of which nobody has a workshop yet. Returns its id, and the
 * link for a slide.
 */
export async function createTemplate(test, browser, like) {
  const { page } = await openProfile(test, browser);
  await page.goto(LAUNCHER);
  await logIn(page, "admin@example.org");
  await page.waitForURL(`${LAUNCHER}/`);
  const { app_type, image, port, args, resources } = (await api(page, "GET", `/templates/${like}`)).body;
  const slug = `notebooks-${randomUUID().slice(0, 8)}`;
  const template = { name: "Notebooks", slug, unlisted: true, app_type, image, port, args, resources };
  const { status, body } = await api(page, "POST", "/templates/", template);
  assert.equal(status, 201, JSON.stringify(body));
  return { id: body.template_id, link: `${LAUNCHER}/go/${slug}?start=1` };
}

/** Signs out on the launcher's start page. Fails if a session of launcher or workshops, or a complaint remains. */
export async function signOut(page, launcher, complaints) {
  await page.goto(launcher);
  await page.locator("#account > summary").click();
  await page.getByRole("link", { name: "Sign out" }).click();
  await page.waitForURL(`${launcher}/signed-out`);
  await page.getByRole("heading", { name: "You are signed out" }).waitFor();
  const sessions = (await page.context().cookies()).filter(({ name }) => /oauth2_proxy(_workshops)?$/.test(name));
  assert.deepEqual(sessions, [], "expected no session cookie of launcher or workshops");
  // Chromium reports two expected errors: status 401 of the signed-out page, and of the refresh in another tab.
  const others = complaints.filter((complaint) => !/ status of 401 .*\/(signed-out|fragments\/workshops)$/.test(complaint));
  assert.deepEqual(others, [], "expected no script error, no failed request, no violation of the content policy");
}
