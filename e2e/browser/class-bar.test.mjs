// The bar above a workshop of a class: a student raises the hand, the teacher takes it, and sends a message to all.

import assert from "node:assert/strict";
import { test } from "node:test";
import { overflow, violations } from "./axe.mjs";
import { tabTo } from "./keyboard.mjs";
import { openPage, runWorkshop, screenshot, send, startBrowser, startLauncher } from "./support.mjs";

const TEACHER = "tina@example.org";
const STUDENT = "ada@example.org";
const MESSAGE = 'Exercise 2 begins now.\n<img src="x" onerror="document.title = 1">';
/** Requests of the bar for the news without an event stream. */
const NEWS = /\/_launcher\/class\/.*\/news$/;

/** Creates a class with a template, and a student. Returns the path of its page, and the id of its template. */
async function createClass(launcher) {
  const { slug } = await send(launcher, "POST", "/classes/", { name: "Statistics 101", teachers: [TEACHER] });
  const room = `/classes/${slug}`;
  await send(launcher, "PUT", `${room}/members/${STUDENT}`, { role: "student", name: "Ada Lovelace" });
  await send(launcher, "PUT", `${room}/members/${TEACHER}`, { role: "teacher", name: "Tina Teacher" });
  const command = ["python3", "-m", "http.server", "$(PORT)", "--bind", "127.0.0.1"];
  const template = { name: "Exercise 1", app_type: "custom", image: "example.org/x", port: 8000, command };
  const { template_id } = await send(launcher, "POST", `${room}/templates/`, template, TEACHER);
  return { room, template_id };
}

test("hand and messages of a class in the bar", async (t) => {
  const launcher = await startLauncher(t);
  const browser = await startBrowser(t);
  const made = await createClass(launcher);
  const { page: teacher, complaints: teachersComplaints } = await openPage(t, browser, { email: TEACHER });
  await teacher.goto(launcher.url + made.room);
  const { page: student, complaints } = await openPage(t, browser, { email: STUDENT });
  // They get no answer: only the event stream has the news.
  await student.route(NEWS, () => {});
  await student.goto((await runWorkshop(launcher, made.template_id, STUDENT, made.room)).url);
  const bar = student.getByRole("banner");
  const hands = teacher.getByRole("heading", { name: /^Raised hands/ });
  const report = (way, since) => t.diagnostic(`from the ${way}: ${Date.now() - since} ms`);

  await t.test("student raises the hand with the keyboard, and the board shows it", async () => {
    await bar.getByRole("button", { name: "Raise hand" }).waitFor();
    await student.evaluate(() => document.activeElement.blur());
    await tabTo(student, /^Raise hand$/);
    const since = Date.now();
    await student.keyboard.press("Enter");
    await teacher.getByText("Ada Lovelace").first().waitFor();
    report("key to the board", since);
    await hands.filter({ hasText: "1" }).waitFor();
    await bar.getByText("Your hand is raised.").waitFor();
    await screenshot(student, "bar-hand");
    await screenshot(teacher, "board-hand");
  });

  await t.test("teacher takes the hand, and the bar says who comes", async () => {
    await tabTo(teacher, new RegExp(`^I help ${STUDENT}$`));
    const since = Date.now();
    await teacher.keyboard.press("Enter");
    await bar.getByText("Tina Teacher comes to help you.").waitFor();
    report("key to the bar", since);
    assert.deepEqual(await violations(student, ".bar"), []);
    await teacher.getByText("Tina Teacher helps").waitFor();
    assert.deepEqual(await violations(teacher), []);
  });

  await t.test("message to all appears in the bar as text, until the student dismisses it", async () => {
    await teacher.getByText("Message to all").click();
    await teacher.getByLabel("Message", { exact: true }).fill(MESSAGE);
    const since = Date.now();
    await teacher.getByRole("button", { name: "Send", exact: true }).click();
    await bar.getByText("Exercise 2 begins now.").waitFor();
    report("click to the bar", since);
    assert.equal(await student.locator("#message-text").textContent(), MESSAGE);
    assert.equal(await bar.locator("img").count(), 0, "a message is text");
    assert.deepEqual(await violations(student, ".bar"), []);
    await student.setViewportSize({ width: 390, height: 740 });
    await screenshot(student, "bar-message-phone");
    assert.ok((await overflow(student)) <= 0, "expected no page wider than a phone");
    await student.setViewportSize({ width: 1100, height: 800 });
    await screenshot(student, "bar-message");
    await screenshot(teacher, "board-message");
    await bar.getByRole("button", { name: "Dismiss" }).focus();
    await student.keyboard.press("Enter");
    await bar.getByText("Exercise 2 begins now.").waitFor({ state: "hidden" });
    await student.reload();
    await bar.getByText("Tina Teacher comes to help you.").waitFor();
    assert.ok(await bar.getByText("Exercise 2 begins now.").isHidden(), "a dismissed message stays hidden");
  });

  await t.test("Done lowers the hand in the bar", async () => {
    await teacher.getByRole("button", { name: `Done ${STUDENT}` }).click();
    await bar.getByRole("button", { name: "Raise hand" }).waitFor();
    await hands.filter({ hasText: "0" }).waitFor();
  });

  await t.test("click in the app is a use on the board", async () => {
    const reported = student.waitForRequest((request) => request.url().endsWith("/use") && request.method() === "PUT");
    await student.frameLocator("#app").locator("body").click();
    assert.equal((await (await reported).response()).status(), 204);
    await teacher.reload();
    await teacher.getByText(/last used/).waitFor();
  });

  await t.test("page of the class has the hand and the message, too", async () => {
    const { page } = await openPage(t, browser, { email: STUDENT });
    await page.goto(launcher.url + made.room);
    await page.getByRole("button", { name: "Raise hand" }).press("Enter");
    await page.getByText("Your hand is raised.").waitFor();
    await bar.getByRole("button", { name: "Lower hand" }).waitFor();
    assert.deepEqual(await violations(page), []);
    await page.getByRole("button", { name: "Dismiss" }).press("Enter");
    await page.getByText("Exercise 2 begins now.").waitFor({ state: "hidden" });
    await bar.getByRole("button", { name: "Lower hand" }).press("Enter");
    await page.getByRole("button", { name: "Raise hand" }).waitFor();
    assert.ok(await page.getByText("Exercise 2 begins now.").isHidden(), "a dismissed message stays hidden");
  });

  await t.test("bar follows without event streams, too", async () => {
    const { page } = await openPage(t, browser, { email: STUDENT });
    await page.route(/\/_launcher\/class\/.*\/events$/, (route) => route.abort());
    await page.goto(student.url());
    await page.getByRole("banner").getByRole("button", { name: "Raise hand" }).waitFor();
    await send(launcher, "PUT", `${made.room}/message`, { text: "Exercise 3 begins now." }, TEACHER);
    await page.getByRole("banner").getByText("Exercise 3 begins now.").waitFor();
    await page.close();
  });

  await t.test("bar of a former member has no hand", async () => {
    assert.deepEqual(complaints, [], "expected no script error and no violation of the content policy");
    await student.unroute(NEWS);
    await send(launcher, "DELETE", `${made.room}/members/${STUDENT}`);
    await student.locator("#class").waitFor({ state: "hidden" });
    assert.deepEqual(teachersComplaints, []);
  });
});
