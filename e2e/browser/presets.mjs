// Launches of presets from their cards, and the use of their apps on the frame page.

import { waitFor } from "./support.mjs";

const frame = (page) => page.frameLocator("#app");

/**
 * Chooses the card of a preset on the page of a new template, and launches the template. `change(page)` completes the form, and
 * `enter(page)` logs in at the workshop. Waits for the frame page of the workshop, below this domain. Returns the time of the
 * click that launched it.
 */
export async function launchPreset(page, launcher, domain, card, { change = () => {}, enter = () => {} }) {
  await page.goto(`${launcher}/admin/templates/new`);
  await page.getByRole("link", { name: card, exact: true }).click();
  await change(page);
  await page.getByRole("button", { name: "Save and try" }).click();
  const launch = page.getByRole("button", { name: "Launch", exact: true });
  await launch.waitFor();
  const clicked = Date.now();
  await launch.click();
  await enter(page);
  await page.waitForURL((url) => url.hostname.endsWith(domain) && url.pathname === "/_launcher/frame", { waitUntil: "commit" });
  return clicked;
}

/** Types a name, and waits for the greeting that the app computes from it. */
export async function greet(page, input = (app) => app.getByLabel("Name", { exact: true })) {
  const name = input(frame(page));
  const greeting = frame(page).getByText("Hello Ada!", { exact: true }).first();
  // An app that has not connected its page yet ignores what is typed.
  await waitFor("the greeting of the app", async () => {
    await name.click();
    await name.fill("");
    await name.pressSequentially("Ada");
    await name.press("Tab");
    return greeting.waitFor({ timeout: 15_000 }).then(() => true, () => false);
  });
}

/** Writes a file with VS Code's terminal, and opens it in the editor. */
export async function useVsCode(page) {
  const app = frame(page);
  await app.getByRole("button", { name: "Toggle Panel" }).first().click();
  await app.getByRole("textbox", { name: /^Terminal 1/ }).pressSequentially("echo $((6*7)) > answer.txt\n");
  await app.getByRole("treeitem", { name: "answer.txt" }).click();
  await app.locator(".view-lines").getByText("42", { exact: true }).waitFor();
}

/** Runs a command in ttyd, and waits for its output. The command shows that the user can write in the first folder. */
export async function useTerminal(page) {
  const input = frame(page).getByRole("textbox", { name: "Terminal input" });
  const lines = () => input.evaluate(() => Array.from({ length: term.buffer.active.length }, (_, at) => term.buffer.active.getLine(at).translateToString(true)));
  // Before the shell's prompt, the page has no connection to the shell, and drops what is typed.
  await waitFor("the prompt", async () => (await lines()).some((line) => /[#$%>]\s*$/.test(line)));
  await input.pressSequentially("echo $((6*7)) > answer.txt; tac answer.txt\n");
  await waitFor("the output of the command", async () => (await lines()).includes("42"));
}

/** Counts the pixels of noVNC's screen that have this colour, and returns the middle of their rectangle. */
const pixels = (screen, colour) =>
  screen.evaluate((canvas, [red, green, blue]) => {
    const { data, width, height } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    const found = { count: 0, left: width, top: height, right: 0, bottom: 0 };
    for (let at = 0; at < data.length; at += 4) {
      if (data[at] !== red || data[at + 1] !== green || data[at + 2] !== blue) continue;
      const [x, y] = [(at / 4) % width, Math.floor(at / 4 / width)];
      found.count++;
      Object.assign(found, {
        left: Math.min(found.left, x), right: Math.max(found.right, x), top: Math.min(found.top, y), bottom: Math.max(found.bottom, y),
      });
    }
    const box = canvas.getBoundingClientRect();
    const position = { x: ((found.left + found.right) / 2 / width) * box.width, y: ((found.top + found.bottom) / 2 / height) * box.height };
    return { count: found.count, position };
  }, colour);

const WHITE = [255, 255, 255];
const GREEN = [0, 255, 0];
/** Pixels that a window has, and no text or icon. */
const WINDOW = 50_000;

/** Clicks the window of the desktop's terminal, and runs a command in it that makes the window green. */
export async function useDesktop(page) {
  const screen = frame(page).locator("#noVNC_container canvas");
  await screen.waitFor();
  const window = await waitFor("the window of the terminal", async () => {
    const found = await pixels(screen, WHITE);
    return found.count > WINDOW && found;
  });
  await screen.click({ position: window.position });
  await page.keyboard.type("printf '\\033]11;green\\007'\n");
  await waitFor("the window to be green", async () => (await pixels(screen, GREEN)).count > WINDOW);
}
