// A day of a class of 33 people: from the teacher's first page to the list of those who were there. Teacher and three students
// have a browser, 30 students an HTTP client.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { screenshot, waitFor } from "./support.mjs";
import { JSON_ONLY, Visitor } from "./visitor.mjs";

const TEACHER = "teacher@example.org";
const student = (number) => `student-${number}@example.org`;
const IN_BROWSERS = [1, 2, 3].map(student);
const BY_HTTP = Array.from({ length: 30 }, (_, index) => student(index + 4));
const STUDENTS = [...IN_BROWSERS, ...BY_HTTP];
/** A user who is no member. */
const STRANGER = "alice@example.org";
/** Most actions of the teacher, which are clicks and filled fields, and most seconds, from the start page to the link. */
const MOST_ACTIONS = 10;
const MOST_SECONDS = 180;
/** Students by HTTP who come at the same time. */
const AT_A_TIME = 6;
/** Milliseconds between two looks of a student by HTTP. */
const PACE = 500;

/** Sends an API request with the session of this page. Returns the body of the answer. */
async function api(page, method, path, sent) {
  const answer = await page.evaluate(
    async ([method, path, sent]) => {
      const content = sent && { headers: { "Content-Type": "application/json" }, body: JSON.stringify(sent) };
      const answer = await fetch(`/api/v1${path}`, { method, ...content });
      return { status: answer.status, text: await answer.text() };
    },
    [method, path, sent],
  );
  assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${answer.text}`);
  return answer.text && JSON.parse(answer.text);
}

function summary(times) {
  const sorted = times.toSorted((one, other) => one - other);
  const seconds = (at) => (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * at))] / 1000).toFixed(1);
  return `median ${seconds(0.5)} s, p90 ${seconds(0.9)} s, longest ${seconds(1)} s`;
}

/**
 * Runs the day as subtests of `day`. `place` is the installation: `launcher` and `domain` are its URL and the domain of the
 * workshops, `open(t)` opens a page in a new browser profile, `logIn(page, email)` fills in the login form for the launcher, and
 * `enter(page, email)` that of the workshops' domain, if there is one. `addressOf(host)` and `passwordOf(email)` are for HTTP
 * clients. `image` is the image of the test app, and `repository` the address of the course material. Returns the page of the
 * teacher.
 */
export async function classDay(day, { launcher, domain, open, logIn, enter, addressOf, passwordOf, image, repository }) {
  const visitor = (email) => new Visitor(addressOf, email, passwordOf(email));
  const { page: teacher, complaints } = await open(day);
  const pages = new Map();
  let room, link;

  await day.test("teacher makes class, template, material and link", async (t) => {
    await teacher.goto(launcher);
    await logIn(teacher, TEACHER);
    await teacher.waitForURL(`${launcher}/`);
    const begun = Date.now();
    let actions = 0;
    const act = async (action) => {
      actions += 1;
      await action;
    };
    await act(teacher.getByRole("link", { name: "Classes", exact: true }).click());
    await act(teacher.getByLabel("Name of the class").fill("Statistics 101"));
    await act(teacher.getByRole("button", { name: "Create class" }).click());
    await act(teacher.getByRole("link", { name: "New template" }).click());
    await act(teacher.getByRole("link", { name: "JupyterLab", exact: true }).click());
    await act(teacher.getByLabel("Name", { exact: true }).fill("Exercise 1"));
    await act(teacher.getByLabel("Address", { exact: true }).fill(repository));
    // Not one of the actions: to save the template checks the material, too.
    await teacher.getByRole("button", { name: "Check Source 1" }).click();
    await teacher.getByText(/^Found: branch \w+, commit [0-9a-f]+/).waitFor();
    await act(teacher.getByRole("button", { name: "Create template" }).click());
    await act(teacher.getByText("Join link", { exact: true }).click());
    await act(teacher.getByRole("button", { name: "Create link" }).click());
    const code = (await teacher.locator(".join-letters").textContent()).trim();
    const seconds = (Date.now() - begun) / 1000;
    t.diagnostic(`${actions} actions, ${seconds.toFixed(1)} s`);
    await screenshot(teacher, "class-day-code");
    assert.ok(actions <= MOST_ACTIONS, `${actions} actions`);
    assert.ok(seconds <= MOST_SECONDS, `${seconds} s`);
    link = `${launcher}/join/${code}`;
    room = new URL(teacher.url()).pathname.replace(/\/projector$/, "");
    // The test machine has the processors and the memory of a laptop: 33 workshops fit with smaller requests only.
    const [template] = await api(teacher, "GET", `${room}/templates/`);
    const resources = { cpu_request: "5m", cpu_limit: "1", memory_request: "16Mi", memory_limit: "64Mi" };
    await api(teacher, "PUT", `${room}/templates/${template.template_id}`, { ...template, resources });
    await teacher.goto(launcher + room);
  });

  await day.test("33 people join with two clicks each", async (t) => {
    const times = [];
    const joinInBrowser = async (email) => {
      const { page } = await open(day);
      await page.goto(link);
      await logIn(page, email);
      await page.waitForURL(link);
      let clicks = 0;
      const click = async (button) => {
        clicks += 1;
        await page.getByRole("button", button).click();
      };
      await click({ name: "Join", exact: true });
      const begun = Date.now();
      await click({ name: "Launch Exercise 1" });
      await enter(page, email);
      await page.waitForURL((url) => url.hostname.endsWith(`.${domain}`) && url.pathname === "/_launcher/frame");
      assert.equal(JSON.parse(await page.frameLocator("#app").locator("body").innerText()).app, "http");
      times.push(Date.now() - begun);
      assert.equal(clicks, 2);
      pages.set(email, page);
    };
    const joinByHttp = async (email) => {
      const client = visitor(email);
      const joined = await client.submit(await client.open(link), "/join/");
      const begun = Date.now();
      const waiting = await client.submit(joined, "/launch/");
      const [, name] = /\/instances\/([a-z0-9-]+)\/wait$/.exec(waiting.url) ?? assert.fail(`${waiting.status} ${waiting.url}`);
      const running = await waitFor(`${name} to run`, async () => {
        const answer = await client.request("GET", `${launcher}/api/v1/instances/${name}`, JSON_ONLY);
        assert.equal(answer.status, 200, answer.text);
        const seen = JSON.parse(answer.text);
        assert.notEqual(seen.state, "failed", answer.text);
        return seen.state === "running" && seen;
      }, PACE);
      times.push(Date.now() - begun);
      assert.deepEqual(running.material.map(({ outcome }) => outcome), ["placed"], JSON.stringify(running.material));
    };
    const waiting = BY_HTTP.values();
    const worker = async () => {
      for (const email of waiting) await joinByHttp(email);
    };
    const inBrowsers = async () => {
      for (const email of IN_BROWSERS) await joinInBrowser(email);
    };
    await Promise.all([inBrowsers(), ...Array.from({ length: AT_A_TIME }, worker)]);
    assert.equal(times.length, STUDENTS.length);
    t.diagnostic(`from the second click to the running workshop of ${times.length} people: ${summary(times)}`);
    await teacher.getByRole("listitem").filter({ hasText: "Ready" }).getByText(`${STUDENTS.length}`, { exact: true }).waitFor();
  });

  const [ada, bob, eve] = IN_BROWSERS.map((email) => pages.get(email));
  const bar = (page) => page.getByRole("banner");
  const hands = (count) => teacher.getByRole("heading", { name: `Raised hands: ${count}` });

  await day.test("board explains a failure", async () => {
    const broken = { name: "Exercise 2", app_type: "custom", image, port: 8888, args: ["exit", "3"], resources: { cpu_request: "5m" } };
    await api(teacher, "POST", `${room}/templates/`, broken);
    await eve.goto(launcher + room);
    await eve.getByRole("button", { name: "Launch Exercise 2" }).click();
    // People who need help come first.
    const first = teacher.locator("#board tbody tr").first();
    await first.filter({ hasText: IN_BROWSERS[2] }).getByText(/The workshop.s program stopped unexpectedly\. .* 3\.$/).waitFor();
    await screenshot(teacher, "class-day-failure");
  });

  await day.test("hand goes up, the teacher takes it, and it goes down", async () => {
    await bar(ada).getByRole("button", { name: "Raise hand" }).click();
    await hands(1).waitFor();
    await teacher.getByRole("button", { name: `I help ${IN_BROWSERS[0]}` }).click();
    await bar(ada).getByText(`${TEACHER} comes to help you.`).waitFor();
    await bar(ada).getByRole("button", { name: "Lower hand" }).click();
    await hands(0).waitFor();
  });

  await day.test("nobody else reads or raises the hand of a student", async () => {
    const { host } = new URL(ada.url());
    const [name] = host.split(".");
    const nothing = "exercise-1-abcdefghij";
    const path = (workshop) => `https://${workshop}.${domain}/_launcher/class/${workshop}`;
    const forged = { ...JSON_ONLY, "X-Auth-Request-Email": IN_BROWSERS[0] };
    for (const email of [STRANGER, IN_BROWSERS[1]]) {
      const client = visitor(email);
      // The workshops' domain has a session of its own. The sidecar refuses the page.
      assert.equal((await client.open(`https://${host}/`)).status, 403, email);
      for (const [method, end] of [["GET", "news"], ["GET", "events"], ["PUT", "hand"], ["DELETE", "hand"]]) {
        for (const headers of [JSON_ONLY, forged]) {
          const { status, text } = await client.request(method, `${path(name)}/${end}`, headers);
          const other = await client.request(method, `${path(nothing)}/${end}`, headers);
          assert.equal(status, 404, `${email} ${method} ${end}: ${text}`);
          assert.deepEqual([status, text.replaceAll(name, nothing)], [other.status, other.text], "expected the 404 of a workshop that does not exist");
        }
      }
      // The path of one workshop at the host of another.
      const crossed = await client.request("GET", `https://${nothing}.${domain}/_launcher/class/${name}/news`, forged);
      assert.ok(crossed.status >= 400, `${crossed.status} ${crossed.text}`);
    }
    const nobody = visitor(STRANGER);
    for (const headers of [JSON_ONLY, forged]) {
      const { status, text } = await nobody.request("PUT", `${path(name)}/hand`, headers);
      assert.ok([302, 400, 401].includes(status), `${status} ${text}`);
    }
    await bar(ada).getByRole("button", { name: "Raise hand" }).waitFor();
    await hands(0).waitFor();
  });

  await day.test("message to all is in the bars", async () => {
    await teacher.getByText("Message to all").click();
    await teacher.getByLabel("Message", { exact: true }).fill("Exercise 2 begins at ten.");
    await teacher.getByRole("button", { name: "Send", exact: true }).click();
    for (const page of [ada, bob]) await bar(page).getByText("Exercise 2 begins at ten.").waitFor();
    await screenshot(ada, "class-day-message");
  });

  await day.test("all workshops are extended, then ended", async () => {
    const all = async (name, done) => {
      await teacher.getByRole("link", { name, exact: true }).click();
      await teacher.getByRole("button", { name, exact: true }).click();
      await teacher.getByRole("link", { name: "Back to the class" }).waitFor();
      const rows = teacher.getByRole("row").filter({ hasText: done });
      for (const email of STUDENTS) assert.ok(await rows.filter({ hasText: email }).count(), `${name}: ${email}: ${await teacher.locator("main").innerText()}`);
      await screenshot(teacher, `class-day-${name}`);
      await teacher.getByRole("link", { name: "Back to the class" }).click();
    };
    await all("Extend all", "Extended until");
    await all("End all", "Ended");
    await teacher.getByRole("listitem").filter({ hasText: "Ready" }).getByText("0", { exact: true }).waitFor();
    await teacher.getByRole("listitem").filter({ hasText: "Was here" }).getByText(`${STUDENTS.length}`, { exact: true }).waitFor();
  });

  await day.test("attendance names all who were there", async () => {
    const [download] = await Promise.all([
      teacher.waitForEvent("download"),
      teacher.getByRole("link", { name: "Download attendance" }).click(),
    ]);
    const lines = (await readFile(await download.path(), "utf8")).trim().split(/\r?\n/).slice(1);
    const workshops = new Map();
    for (const [email, , role, joined, firstLaunch, lastActivity, count] of lines.map((line) => line.split(","))) {
      if (role !== "student") continue;
      assert.ok(joined && joined <= firstLaunch && firstLaunch < lastActivity, `${email}: ${joined} ${firstLaunch} ${lastActivity}`);
      workshops.set(email, Number(count));
    }
    const expected = STUDENTS.map((email) => [email, email === IN_BROWSERS[2] ? 2 : 1]);
    assert.deepEqual([...workshops].sort(), expected.sort());
    assert.deepEqual(complaints, []);
  });
  return teacher;
}
