// A day of a class of 33 people: from the teacher's first page to the list of those who were there. Teacher and three students
// have a browser, 30 students an HTTP client.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { openMenu, screenshot, sendFrom as api, waitFor } from "./support.mjs";
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
/** Requests of one workshop: the test machine has the processors and the memory of a laptop. */
const RESOURCES = { cpu_request: "5m", cpu_limit: "1", memory_request: "16Mi", memory_limit: "64Mi" };
/** Folder of the templates that keep files. */
const HOME = "/home/student";

/** Returns the content of a file in the folder of the test app, which first gets this content if there is one. */
const file = (page, path, content) =>
  page.frameLocator("#app").locator("body").evaluate(
    async (_, [path, content]) => {
      const answer = await fetch(path, content === undefined ? {} : { method: "PUT", body: content });
      return answer.ok ? (await answer.json()).file : `${answer.status} ${await answer.text()}`;
    },
    [path, content],
  );

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
  /** Waits for the frame page of a workshop. Returns the name of the workshop. */
  const isInWorkshop = async (page) => {
    await page.waitForURL((url) => url.hostname.endsWith(`.${domain}`) && url.pathname === "/_launcher/frame");
    return new URL(page.url()).hostname.split(".")[0];
  };

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
    const [template] = await api(teacher, "GET", `${room}/templates/`);
    await api(teacher, "PUT", `${room}/templates/${template.template_id}`, { ...template, resources: RESOURCES });
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
      await isInWorkshop(page);
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
  const cover = (page) => page.locator("#cover");
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

  await day.test("all workshops are extended, then ended, which covers the open apps", async () => {
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
    const names = [ada, bob].map((page) => new URL(page.url()).hostname.split(".")[0]);
    await all("End all", "Ended");
    for (const [at, page] of [ada, bob].entries()) {
      await cover(page).getByText("A teacher ended “Exercise 1”.").waitFor();
      const itsPage = cover(page).getByRole("link", { name: "Open its page" });
      assert.equal(await itsPage.getAttribute("href"), `${launcher}/instances/${names[at]}`);
      assert.ok(await page.evaluate(() => document.getElementById("app").inert), "expected no input into the app");
    }
    await screenshot(ada, "class-day-ended");
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

  /** Creates a template of the test app, which writes files, and launches it as Bob. */
  const launchAsBob = async (name, fields) => {
    const app = { app_type: "custom", image, port: 8888, args: ["serve"], resources: RESOURCES };
    await api(teacher, "POST", `${room}/templates/`, { ...app, name, ...fields });
    await bob.goto(launcher + room);
    await bob.getByRole("button", { name: `Launch ${name}` }).click();
  };
  const openAnyway = async () => {
    await bob.getByRole("heading", { name: "The course files did not load" }).waitFor();
    await bob.getByRole("link", { name: "Open anyway" }).click();
    const name = await isInWorkshop(bob);
    await bar(bob).getByText("The course files did not load completely.").waitFor();
    return name;
  };
  /** Chooses an action in the menu of a workshop's page, and confirms it. */
  const choose = async (name, action, button) => {
    await bob.goto(`${launcher}/instances/${name}`);
    // An update of the page closes the menu.
    await waitFor("the action", async () => {
      const menu = await openMenu(bob.locator("#detail-content"));
      return menu.getByRole("button", { name: action }).click({ timeout: 5_000 }).then(() => true, () => false);
    });
    await bob.getByRole("button", { name: button, exact: true }).click();
  };
  let unfinished;

  await day.test("missing repository stops the waiting page until the student decides", async () => {
    const missing = new URL("missing.git", repository).href;
    const material = { sources: [{ kind: "git", url: repository, target: "course" }, { kind: "git", url: missing, target: "data" }] };
    const storage = { kind: "workshop", path: HOME };
    await launchAsBob("Exercise 3", { material, storage, env: { FILES: `${HOME}/course` } });
    await bob.getByRole("note").filter({ hasText: "data" }).waitFor();
    await bob.getByRole("link", { name: "Open anyway" }).waitFor();
    const first = bob.url();
    await screenshot(bob, "class-day-material");
    await bob.getByRole("button", { name: "Try again" }).click();
    await bob.waitForURL((url) => url.href !== first && url.pathname.endsWith("/wait"));
    unfinished = await openAnyway();
    assert.equal(await file(bob, "/lesson.txt"), "lesson\n");
  });

  await day.test("ended workshop is launched again with its files", async () => {
    assert.equal(await file(bob, "/answer.txt", "forty-two"), "forty-two");
    await choose(unfinished, /^End /, "End workshop");
    await bob.getByRole("button", { name: /^Launch with these files/ }).click();
    assert.notEqual(await openAnyway(), unfinished);
    assert.equal(await file(bob, "/answer.txt"), "forty-two");
  });

  await day.test("student pauses a workshop, and resumes it with its files", async () => {
    await launchAsBob("Exercise 4", { storage: { kind: "kept", path: HOME }, env: { FILES: HOME } });
    const name = await isInWorkshop(bob);
    assert.equal(await file(bob, "/answer.txt", "kept"), "kept");
    await choose(name, /^Pause /, "Pause workshop");
    await bob.getByRole("button", { name: /^Resume / }).click();
    assert.equal(await isInWorkshop(bob), name);
    assert.equal(await file(bob, "/answer.txt"), "kept");
  });
  return teacher;
}
