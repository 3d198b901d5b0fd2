// Makes the pictures of README.md: the start page in both colour schemes, and an animation of a launch; and those of
// docs/classes.md: the board of a class.
// Run `make pictures`, which builds and installs everything that this script needs.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { access, mkdir, mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { startProxy } from "./proxy.mjs";
import { ADMIN, ROOT, freePort, openPage, send, startBrowser, startLauncher, workshopEntry } from "./support.mjs";

const PICTURES = join(ROOT, "docs/pictures");
const JUPYTER = process.env.TEST_JUPYTER ?? join(ROOT, ".local/jupyter/bin/jupyter-lab");
const STUDENT = "ada@example.org";
const SIZE = { width: 960, height: 640 };
const FRAME_MS = 200;
/** Number of frames of the animation: 20 seconds. */
const FRAMES = 100;
const MAX_BYTES = 1_500_000;

const MORE_TEMPLATES = [
  {
    name: "Statistics 101",
    description: "RStudio with the **tidyverse**, for the exercises of the course.",
    app_type: "rstudio",
    image: "docker.io/rocker/tidyverse:4",
    lifetime_seconds: 14400,
  },
];

/** Members of the class in the pictures: name, and what became of the workshop. */
const MEMBERS = [
  ["Ada Lovelace", "ready"], ["Alan Turing", "ready"], ["Barbara Liskov", "hand"], ["Donald Knuth", "ready"], ["Edsger Dijkstra", "absent"],
  ["Frances Allen", "ready"], ["Grace Hopper", "failed"], ["John Backus", "absent"], ["Margaret Hamilton", "ready"],
];

/** Records frames of a page. Each frame is a file, and is shown for FRAME_MS. */
class Film {
  frames = [];
  #taken = 0;
  #pointer = { x: SIZE.width * 0.6, y: SIZE.height * 0.8 };

  constructor(page, folder) {
    this.page = page;
    this.folder = folder;
  }

  /** Takes one picture, with the pointer. Returns null while the page navigates. */
  async #take() {
    const path = join(this.folder, `${String(this.#taken++).padStart(4, "0")}.png`);
    try {
      await this.page.evaluate(drawPointer, this.#pointer);
      await this.page.screenshot({ path, timeout: 5000 });
      return path;
    } catch {
      return null;
    }
  }

  /** Shows the current page for this number of frames. */
  async hold(frames) {
    const path = await this.#take();
    assert.ok(path, "the page cannot be photographed");
    this.frames.push(...Array(frames).fill(path));
  }

  /** Moves the pointer to the middle of an element. */
  async pointAt(element, steps = 5) {
    const box = await element.boundingBox();
    const [from, to] = [this.#pointer, { x: box.x + box.width / 2, y: box.y + box.height / 2 }];
    for (let step = 1; step <= steps; step++) {
      const share = step / steps;
      this.#pointer = { x: from.x + (to.x - from.x) * share, y: from.y + (to.y - from.y) * share };
      await this.hold(1);
    }
  }

  /** Records until `done` settles. If that takes long, keeps only some of the frames, evenly spread. */
  async record(done, most) {
    const state = { settled: false };
    const settle = () => (state.settled = true);
    done.then(settle, settle);
    const taken = [];
    while (!state.settled) {
      const next = sleep(FRAME_MS); // pacing: the rate of the frames
      const path = await this.#take();
      if (path) taken.push(path);
      await next;
    }
    await done;
    const kept = Math.min(most, taken.length);
    for (let at = 0; at < kept; at++) this.frames.push(taken[Math.floor((at * taken.length) / kept)]);
  }
}

/** Draws the mouse pointer, which is not part of a screenshot. Runs in the page. */
function drawPointer({ x, y }) {
  const id = "pointer-of-the-film";
  const make = (name, attributes) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", name);
    Object.entries(attributes).forEach(([key, value]) => element.setAttribute(key, value));
    return element;
  };
  let pointer = document.getElementById(id);
  if (!pointer) {
    pointer = make("svg", { id, width: 22, height: 28, viewBox: "0 0 22 28", "aria-hidden": "true" });
    const d = "M2 2v20l5-5 4 9 4-2-4-8h7z";
    pointer.append(make("path", { d, fill: "#000", stroke: "#fff", "stroke-width": 1.5, "stroke-linejoin": "round" }));
    document.documentElement.append(pointer);
  }
  Object.assign(pointer.style, { position: "fixed", left: `${x}px`, top: `${y}px`, zIndex: 99999, pointerEvents: "none" });
}

/** Opens a notebook in JupyterLab and runs a cell. */
async function workInJupyter(page, film) {
  const lab = page.frameLocator("#app");
  const card = lab.locator('.jp-LauncherCard[data-category="Notebook"]').first();
  // JupyterLab asks at its first start if it may show news.
  const hideQuestion = (head) => head.insertAdjacentHTML("beforeend", "<style>.Toastify { display: none }</style>");
  await film.record(lab.locator("head", { has: lab.locator("title") }).evaluate(hideQuestion), 15);
  await film.record(card.waitFor(), 15);
  await film.hold(4);
  await film.pointAt(card);
  await card.click();
  // JupyterLab ignores a cell that runs before the kernel is connected.
  await film.record(lab.getByText(/\| Idle$/).waitFor(), 12);
  const cell = lab.locator(".jp-Notebook .jp-CodeCell").first();
  await cell.locator(".cm-content").click();
  for (const key of "sum(range(101))") {
    // JupyterLab closes parentheses: it types over a closing parenthesis that it added.
    await page.keyboard.type(key);
    await film.hold(1);
  }
  await page.keyboard.press("Shift+Enter");
  await film.record(cell.locator(".jp-OutputArea-output").filter({ hasText: "5050" }).waitFor(), 4);
}

async function filmLaunch(page, url, template, folder) {
  const film = new Film(page, folder);
  const button = page.getByRole("button", { name: `Launch ${template}` });
  await page.goto(url);
  await button.waitFor();
  await film.hold(10);
  await button.scrollIntoViewIfNeeded();
  await film.pointAt(button);
  await film.hold(2);
  await button.click();
  const hasOpened = page.waitForURL((address) => address.origin !== url, { waitUntil: "commit" });
  await film.record(hasOpened, 22);
  if (template === "JupyterLab") await workInJupyter(page, film);
  await page.waitForLoadState();
  await film.hold(Math.max(FRAMES - film.frames.length, 5));
  return film.frames;
}

/** Encodes the frames as an animated WebP. A frame that is shown several times is stored once. */
async function encode(frames, path) {
  const scenes = [];
  for (const frame of frames) {
    const last = scenes.at(-1);
    if (last?.frame === frame) last.count++;
    else scenes.push({ frame, count: 1 });
  }
  const timed = scenes.flatMap(({ frame, count }) => ["-d", String(count * FRAME_MS), frame]);
  await promisify(execFile)("img2webp", ["-loop", "0", "-kmax", "5", "-lossy", "-q", "75", "-m", "4", ...timed, "-o", path]);
  const { size } = await stat(path);
  assert.ok(size <= MAX_BYTES, `${path} has ${size} bytes, more than ${MAX_BYTES}`);
  return size;
}

async function make(test) {
  const folder = await mkdtemp(join(tmpdir(), "launcher-pictures-"));
  test.after(() => rm(folder, { recursive: true, force: true }));
  await mkdir(PICTURES, { recursive: true });
  const hasJupyter = await access(JUPYTER).then(() => true, () => false);
  const template = hasJupyter ? "JupyterLab" : "Files";
  const port = await freePort();
  const url = `http://localhost:${port}`;
  const launcher = await startLauncher(test, { SERVICE_PUBLIC_URL: url, SERVICE_LOCAL_JUPYTER: JUPYTER });
  await startProxy(test, port, new URL(launcher.url).port, { "x-auth-request-email": STUDENT });
  const browser = await startBrowser(test);
  const { context: admin } = await openPage(test, browser, { email: ADMIN });
  for (const data of MORE_TEMPLATES) {
    const answer = await admin.request.post(`${launcher.url}/api/v1/templates/`, { data, headers: { Host: `localhost:${port}` } });
    assert.equal(answer.status(), 201, await answer.text());
  }
  await photographBoard(test, browser);
  const { page } = await openPage(test, browser, { viewport: SIZE, colorScheme: "light" });
  const frames = await filmLaunch(page, url, template, folder);
  const size = await encode(frames, join(PICTURES, "launch.webp"));
  console.log(`launch.webp: ${frames.length} frames, ${(frames.length * FRAME_MS) / 1000} s, ${size} bytes`);
  for (const [colorScheme, name] of [["light", "start.png"], ["dark", "start-dark.png"]]) {
    const { page: start } = await openPage(test, browser, { viewport: { width: 1280, height: 800 }, colorScheme });
    await start.goto(url);
    await workshopEntry(start, template).getByRole("link", { name: /^Open/ }).waitFor();
    await start.screenshot({ path: join(PICTURES, name) });
    console.log(name);
  }
}

/** Takes the pictures of the board of a class. */
async function photographBoard(test, browser) {
  const launcher = await startLauncher(test);
  const teacher = "teacher@example.org";
  const { slug } = await send(launcher, "POST", "/classes/", { name: "Statistics 101", teachers: [teacher] });
  const room = `/classes/${slug}`;
  const command = ["python3", "-m", "http.server", "$(PORT)", "--bind", "127.0.0.1"];
  const app = { app_type: "custom", image: "example.org/x", port: 8000 };
  const exercise = await send(launcher, "POST", `${room}/templates/`, { name: "Exercise 1", ...app, command }, teacher);
  const broken = { name: "Exercise 2", ...app, command: ["python3", "-c", "import pandas"] };
  const { template_id: failing } = await send(launcher, "POST", `${room}/templates/`, broken, teacher);
  for (const [name, fate] of MEMBERS) {
    const email = `${name.split(" ")[1].toLowerCase()}@example.org`;
    await send(launcher, "PUT", `${room}/members/${email}`, { role: "student", name }, teacher);
    const template = fate === "failed" ? failing : exercise.template_id;
    if (fate !== "absent") await send(launcher, "POST", `${room}/templates/${template}/launch`, undefined, email);
    if (fate === "hand") await send(launcher, "PUT", `${room}/hand`, undefined, email);
  }
  await send(launcher, "POST", `${room}/join-link`, {}, teacher);
  const ready = MEMBERS.filter(([, fate]) => ["ready", "hand"].includes(fate)).length;
  const looks = { "board.png": {}, "board-dark.png": { colorScheme: "dark" }, "board-phone.png": { viewport: { width: 390, height: 1400 } } };
  for (const [name, look] of Object.entries(looks)) {
    const { page } = await openPage(test, browser, { email: teacher, viewport: { width: 1280, height: 1060 }, ...look });
    await page.goto(launcher.url + room);
    await page.locator("#board tr.state-running").nth(ready - 1).waitFor();
    await page.locator("#board tr.state-failed").waitFor();
    await page.screenshot({ path: join(PICTURES, name) });
    console.log(name);
  }
  const { page } = await openPage(test, browser, { email: teacher, viewport: SIZE });
  await page.goto(`${launcher.url}${room}/projector`);
  await page.locator(".join-letters").waitFor();
  await page.screenshot({ path: join(PICTURES, "projector.png") });
  console.log("projector.png");
}

// Stops everything in reverse order, also after a failure.
const cleanups = [];
try {
  await make({ after: (cleanup) => cleanups.push(cleanup) });
} finally {
  for (const cleanup of cleanups.reverse()) await cleanup();
}
