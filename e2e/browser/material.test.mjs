// A template places a repository. A student changes a file in JupyterLab and ends the workshop, and the teacher pushes other
// changes: the next launch has both. A link adds another repository, for which the same is true. A server that is down does
// not prevent a launch.

import assert from "node:assert/strict";
import { test } from "node:test";
import { startGitServer } from "./git-server.mjs";
import { downloadFile, endWorkshop, runCell } from "./lab.mjs";
import { openPage, screenshot, startBrowser, startLauncher, workshopEntry } from "./support.mjs";

const START_SECONDS = 90;
const NAME = "Penguins";

/** Creates a template with the settings of the seeded JupyterLab template, and with storage and material. */
const createTemplate = (page, name, { url, base }) =>
  page.evaluate(
    async ({ name, url, base }) => {
      const templates = await (await fetch("/api/v1/templates/")).json();
      const { app_type, image } = templates.find((template) => template.name === "JupyterLab");
      const sources = [{ kind: "git", url, ref: "main", target: "lesson" }];
      const material = { sources, allowed_repositories: [base] };
      const body = JSON.stringify({ name, app_type, image, slug: "penguins", storage: { kind: "kept" }, material });
      const options = { method: "POST", headers: { "Content-Type": "application/json" }, body };
      const answer = await fetch("/api/v1/templates/", options);
      if (answer.status !== 201) throw new Error(await answer.text());
    },
    { name, url, base },
  );

test("course material is merged with the work of a student", async (t) => {
  const repository = await startGitServer(t);
  const launcher = await startLauncher(t, {
    SSL_CERT_FILE: repository.certificate,
    SERVICE_REQUIRE_AUTHENTICATION: "false",
    SERVICE_DEV_IDENTITY: "dev@example.org",
    SERVICE_ADMIN_EMAILS: "dev@example.org",
  });
  await repository.push({ "exercise.txt": "exercise 1\n", "data/numbers.txt": "1 2 3\n" });
  const browser = await startBrowser(t);
  const { context, page, complaints } = await openPage(t, browser);
  const entry = workshopEntry(page, NAME);
  await page.goto(launcher.url);
  await createTemplate(page, NAME, repository);

  const launch = async () => {
    await page.goto(launcher.url);
    await page.getByRole("button", { name: `Launch ${NAME}` }).click();
    await page.waitForURL((url) => url.origin !== launcher.url, { timeout: START_SECONDS * 1000 });
    await page.goto(launcher.url);
  };

  const run = (code, output) => runCell(context, entry, code, output);
  const end = () => endWorkshop(page, entry);
  const openDetails = () => entry.getByRole("link", { name: NAME, exact: true }).click();

  await t.test("the first launch has the files of the repository", async () => {
    await launch();
    await openDetails();
    await page.getByText("lesson: loaded").waitFor();
    await screenshot(page, "material-loaded");
    await page.goto(launcher.url);
    await run(
      "open('lesson/data/numbers.txt', 'a').write('4 5 6 by the student'), open('lesson/exercise.txt').read()",
      "20, 'exercise 1",
    );
    await end();
  });

  await t.test("the next launch has the changes of student and teacher", async () => {
    await repository.push({ "exercise.txt": "exercise 1, corrected\n", "week2.txt": "new lesson\n" });
    await launch();
    await openDetails();
    await page.getByText("lesson: updated").waitFor();
    await page.goto(launcher.url);
    const files = ["data/numbers.txt", "exercise.txt", "week2.txt"].map((file) => `open('lesson/${file}').read()`);
    await run(files.join(" + "), /by the student.*exercise 1, corrected.*new lesson/);
    await end();
  });

  await t.test("a file that both changed is there twice, and the page names it", async () => {
    await repository.push({ "data/numbers.txt": "7 8 9\n" });
    await launch();
    await page.getByText("You and your teacher both changed one file in the folder lesson.").waitFor();
    await page.getByText("data/numbers.txt").waitFor();
    await screenshot(page, "material-conflict");
    const files = "sorted(__import__('glob').glob('lesson/data/*'))";
    await run(`[open(file).read() for file in ${files}]`, /7 8 9.*by the student/);
    await end();
  });

  const launchByLink = async () => {
    const project = encodeURIComponent(repository.project);
    await page.goto(`${launcher.url}/go/penguins?repo=${project}&ref=main&path=data`);
    await page.getByText("The workshop gets the files of this repository:").waitFor();
    await screenshot(page, "material-link");
    await page.getByRole("button", { name: /^Launch/ }).click();
    await page.waitForURL((url) => url.origin !== launcher.url, { timeout: START_SECONDS * 1000 });
    await page.goto(launcher.url);
    await openDetails();
  };

  await t.test("a link adds the files of another repository", async () => {
    await launchByLink();
    await page.getByText("project: loaded").waitFor();
    await page.goto(launcher.url);
    const edit = "open('project/numbers.txt', 'a').write('10 11 12 in the project')";
    await run(`${edit}, open('lesson/data/numbers.txt').read()`, /23, .*by the student/);
    await end();
    await page.getByRole("link", { name: "Saved work" }).click();
    assert.equal(await downloadFile(page, NAME, "project/numbers.txt"), "7 8 9\n10 11 12 in the project");
  });

  await t.test("the next launch by the link has the changes of student and teacher", async () => {
    await repository.push({ "data/week3.txt": "another lesson\n" });
    await launchByLink();
    await page.getByText("project: updated").waitFor();
    await page.goto(launcher.url);
    const files = ["numbers.txt", "week3.txt"].map((file) => `open('project/${file}').read()`);
    await run(files.join(" + "), /7 8 9.*10 11 12 in the project.*another lesson/);
    await end();
  });

  await t.test("a server that is down does not prevent the launch", async () => {
    await repository.close();
    await launch();
    await page.getByText("The course material for the folder lesson could not be loaded.").waitFor();
    await screenshot(page, "material-failed");
    await run("open('lesson/week2.txt').read()", "new lesson");
    await end();
  });

  await t.test("a link with a repository that is not allowed is refused", async () => {
    const answer = await page.goto(`${launcher.url}/go/penguins?repo=https://evil.example/ex-1.git`);
    assert.equal(answer.status(), 422);
    await page.getByText("The link names a repository that cannot be used").waitFor();
    const unexpected = complaints.filter((complaint) => !complaint.includes("422 (Unprocessable"));
    assert.deepEqual(unexpected, [], "expected no script error and no violation of the content policy");
  });
});
