// Functions to log in at the provider. The Chromium resolves host names to the addresses in the environment variables
// LOGIN_TRAEFIK, LOGIN_DEX and LOGIN_SSO.

import { openPage, startBrowser } from "../support.mjs";

export const LAUNCHER = "https://launcher.test";

/** Starts a Chromium that resolves launcher.test, *.workshops.test and the login providers to the cluster. */
export function startChainBrowser(test) {
  const { LOGIN_TRAEFIK: traefik, LOGIN_DEX: dex, LOGIN_SSO: sso } = process.env;
  const names = { "launcher.test": traefik, "*.workshops.test": traefik, "dex.test": dex, "sso.test": sso };
  const rules = Object.entries(names).map(([name, address]) => `MAP ${name} ${address}`);
  return startBrowser(test, [`--host-resolver-rules=${rules.join(", ")}`, "--ignore-certificate-errors"]);
}

/** Opens a page in a new browser profile. */
export const openProfile = (test, browser) => openPage(test, browser, { ignoreHTTPSErrors: true });

/** Waits for the provider's login form, fills it in, and submits it. */
export async function logIn(page, email) {
  await page.waitForURL(/^http:\/\/(dex\.test:5556|sso\.test:5557)\//);
  await page.locator('input[name="login"]').fill(email);
  await page.locator('input[name="password"]').fill("password");
  await page.locator('button[type="submit"]').click();
}

/** Sends an API request with this profile's session, from a new tab of the launcher. Returns {status, body}. */
export async function api(page, method, path) {
  const tab = await page.context().newPage();
  await tab.goto(`${LAUNCHER}/history`);
  const answer = await tab.evaluate(
    async ([method, path]) => {
      const answer = await fetch(`/api/v1${path}`, { method, redirect: "manual" });
      return { status: answer.status, body: await answer.json().catch(() => null) };
    },
    [method, path],
  );
  await tab.close();
  return answer;
}
