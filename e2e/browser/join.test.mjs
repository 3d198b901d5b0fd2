// A join link: the teacher shows the code, and a person joins the class and launches with two clicks.

import assert from "node:assert/strict";
import { test } from "node:test";
import { overflow, violations } from "./axe.mjs";
import { ADMIN, openPage, screenshot, send, startBrowser, startLauncher } from "./support.mjs";

const TEACHER = "tina@example.org";
const LOOKS = [{ colorScheme: "light" }, { colorScheme: "dark" }, { viewport: { width: 360, height: 780 } }];

test("person joins a class with its code and launches with two clicks", async (t) => {
  const launcher = await startLauncher(t);
  const browser = await startBrowser(t);
  const { slug } = await send(launcher, "POST", "/classes/", { name: "Statistics 101", teachers: [TEACHER] }, ADMIN);
  const room = `/classes/${slug}`;
  const command = ["python3", "-m", "http.server", "$(PORT)", "--bind", "127.0.0.1"];
  const template = { name: "Exercise 1", app_type: "custom", image: "example.org/x", port: 8000, command };
  await send(launcher, "POST", `${room}/templates/`, template, TEACHER);

  const { page: teacher, complaints } = await openPage(t, browser, { email: TEACHER });
  await teacher.goto(launcher.url + room);
  await teacher.getByText("Join link", { exact: true }).click();
  await teacher.getByRole("button", { name: "Create link" }).click();
  await teacher.getByRole("img", { name: "QR code of the join link" }).waitFor();
  const code = (await teacher.locator(".join-letters").textContent()).trim();
  assert.match(code, /^[a-z2-9]{5}-[a-z2-9]{5}$/);
  const { page: visitor } = await openPage(t, browser, { email: "zoe@example.org" });
  for (const look of LOOKS) {
    const name = look.colorScheme ?? "phone";
    const { page } = await openPage(t, browser, { email: TEACHER, ...look });
    for (const path of [`${room}/projector`, room]) {
      await page.goto(launcher.url + path);
      assert.deepEqual(await violations(page), [], `${path} ${name}`);
      assert.equal(await overflow(page), 0, `${path} ${name}`);
      await screenshot(page, `join-${path === room ? "room" : "code"}-${name}`);
    }
    const { page: other } = await openPage(t, browser, { email: "zoe@example.org", ...look });
    for (const path of [`/join/${code}`, "/join", "/join/aaaaa-aaaaa"]) {
      await other.goto(launcher.url + path);
      assert.deepEqual(await violations(other), [], `${path} ${name}`);
      assert.equal(await overflow(other), 0, `${path} ${name}`);
    }
    await screenshot(other, `join-unknown-${name}`);
  }

  // The code, as typed from a projector.
  await visitor.goto(`${launcher.url}/join`);
  await visitor.getByLabel("Code").fill(code.toUpperCase());
  await visitor.getByRole("button", { name: "Continue" }).click();
  await visitor.getByRole("heading", { name: "Statistics 101" }).waitFor();
  await screenshot(visitor, "join-invitation");
  await visitor.getByRole("button", { name: "Join" }).click();
  await visitor.getByRole("button", { name: "Launch Exercise 1" }).click();
  await visitor.locator("iframe#app").waitFor();
  await teacher.goto(launcher.url + room);
  await teacher.getByRole("row", { name: /zoe@example.org/ }).waitFor();
  await teacher.getByRole("button", { name: "Revoke the link" }).click();
  await teacher.getByRole("button", { name: "Revoke the link" }).waitFor({ state: "detached" });
  assert.deepEqual(complaints, []);
});
