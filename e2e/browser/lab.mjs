// Work of a user in a JupyterLab on a frame page.

/** The button of JupyterLab that begins a notebook, which is there as soon as JupyterLab is usable. */
export const notebookButton = (app) => app.locator('.jp-LauncherCard[data-category="Notebook"]').first();

/**
 * Runs a cell in a new notebook, through the WebSocket of its kernel, and waits for its result. JupyterLab reports its own
 * stylesheet as missing if it has not arrived after two seconds: the user closes this message. `app` is JupyterLab in the frame
 * page, or the page itself.
 */
export async function runCell(page, app = page.frameLocator("#app")) {
  const message = app.getByRole("dialog", { name: /^Error Loading Theme/ });
  await page.addLocatorHandler(message, (dialog) => dialog.getByRole("button").last().click());
  await notebookButton(app).click();
  // Wait for the kernel: JupyterLab ignores a cell that runs before the kernel is connected.
  await app.getByText(/\| Idle$/).waitFor();
  const cell = app.locator(".jp-Notebook .jp-CodeCell").first();
  await cell.locator(".cm-content").click();
  await page.keyboard.type("6*7");
  await page.keyboard.press("Shift+Enter");
  await cell.locator(".jp-OutputArea-output").filter({ hasText: /^\s*42\s*$/ }).waitFor();
}
