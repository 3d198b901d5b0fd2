export const LAUNCHER = "https://launcher.test";

/** Waits for Dex's login form, fills it in, and submits it. */
export async function logIn(page, name) {
  await page.waitForURL(/^https:\/\/launcher\.test\/dex\//);
  await page.locator('input[name="login"]').fill(`${name}@example.org`);
  await page.locator('input[name="password"]').fill(process.env[`PASSWORD_${name.toUpperCase()}`]);
  await page.locator('button[type="submit"]').click();
}

/** The switches with which Chromium finds the server. It does not trust the server's certificate authority. */
export const SWITCHES = [
  `--host-resolver-rules=MAP launcher.test ${process.env.SERVER_ADDRESS}, MAP *.workshops.test ${process.env.SERVER_ADDRESS}`,
  "--ignore-certificate-errors",
];
