export const LAUNCHER = "https://launcher.test";

const PASSWORDS = JSON.parse(process.env.PASSWORDS);

export const passwordOf = (email) => PASSWORDS[email];

/** Waits for Dex's login form, fills it in, and submits it. */
export async function logIn(page, email) {
  await page.waitForURL(/^https:\/\/launcher\.test\/dex\//);
  await page.locator('input[name="login"]').fill(email);
  await page.locator('input[name="password"]').fill(passwordOf(email));
  await page.locator('button[type="submit"]').click();
}

/** The switches with which Chromium finds the server. It does not trust the server's certificate authority. */
export const SWITCHES = [
  `--host-resolver-rules=MAP launcher.test ${process.env.SERVER_ADDRESS}, MAP *.workshops.test ${process.env.SERVER_ADDRESS}`,
  "--ignore-certificate-errors",
];
