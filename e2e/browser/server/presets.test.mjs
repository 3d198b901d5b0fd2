// Presets in containers: an admin launches them from their cards, logs in at the workshops' domain, and uses their apps.

import { test } from "node:test";
import { runCell } from "../lab.mjs";
import { launchPreset, useDesktop, useTerminal } from "../presets.mjs";
import { openPage, screenshot, startBrowser } from "../support.mjs";
import { LAUNCHER, SWITCHES, logIn } from "./log-in.mjs";

/** Presets: name of the card, image for a preset without a public one, and use of the app. */
const PRESETS = [
  { card: "Desktop", image: "localhost/workshop-launcher/desktop:test", use: useDesktop },
  { card: "Terminal", use: useTerminal },
  { card: "JupyterLab", use: runCell },
];

test("presets work in containers", async (t) => {
  const browser = await startBrowser(t, SWITCHES);
  const { page } = await openPage(t, browser, { ignoreHTTPSErrors: true });
  await page.goto(`${LAUNCHER}/admin/templates/new`);
  await logIn(page, "admin@example.org");
  await page.waitForURL(`${LAUNCHER}/admin/templates/new`);
  // Dex keeps no session: the workshops' domain needs a second login, once.
  let enter = () => logIn(page, "admin@example.org");
  for (const { card, image, use } of PRESETS) {
    await t.test(card, async () => {
      const change = () => image && page.getByLabel("Image", { exact: true }).fill(image);
      await launchPreset(page, LAUNCHER, ".workshops.test", card, { change, enter });
      enter = undefined;
      await use(page).finally(() => screenshot(page, `server-preset-${card}`));
    });
  }
});
