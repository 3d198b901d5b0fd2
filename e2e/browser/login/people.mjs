// People who log in at the provider, in a Chromium that knows the chain's names. LOGIN_TRAEFIK, LOGIN_DEX and LOGIN_SSO
// are the addresses behind them.

import { openPage, startBrowser } from "../support.mjs";

export const LAUNCHER = "https://launcher.test";

/** A Chromium to which launcher.test, *.workshops.test and the providers lead into the cluster. */
export function startChainBrowser(test) {
  const { LOGIN_TRAEFIK: traefik, LOGIN_DEX: dex, LOGIN_SSO: sso } = process.env;
  const names = { "launcher.test": traefik, "*.workshops.test": traefik, "dex.test": dex, "sso.test": sso };
  const rules = Object.entries(names).map(([name, address]) => `MAP ${name} ${address}`);
  return startBrowser(test, [`--host-resolver-rules=${rules.join(", ")}`, "--ignore-certificate-errors"]);
}

/** A browser profile of its own. */
export const openProfile = (test, browser) => openPage(test, browser, { ignoreHTTPSErrors: true });

/** Fills in the provider's form, which must be what the page shows. */
export async function logIn(page, email) {
  await page.waitForURL(/^http:\/\/(dex\.test:5556|sso\.test:5557)\//);
  await page.locator('input[name="login"]').fill(email);
  await page.locator('input[name="password"]').fill("password");
  await page.locator('button[type="submit"]').click();
}

/** What the launcher's API answers to this profile, asked from a tab of the launcher's own. */
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
