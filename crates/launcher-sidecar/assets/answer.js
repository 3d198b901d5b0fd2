// Says in the bar that the app answers its first page with an error, or asks for a password, and which setting of the template
// is missing.
(() => {
  "use strict";

  // Settings by the text or the path of the page that an app shows without them. docs/apps.md has each of them.
  const SETTINGS = [
    { text: /Invalid HTTP_HOST header|^Bad Request \(400\)$/, line: `ALLOWED_HOSTS = [os.environ["WORKSHOP_HOST"].split(":")[0]]` },
    { text: /^Invalid Host header - possible DNS rebinding/, line: `--allowed-hosts $(HOST) --cors-allowed-origins $(ORIGIN)` },
    { text: /^Blocked request\. This host \(/, line: `allowedHosts: [process.env.WORKSHOP_HOST.split(":")[0]]` },
    { text: /^403 : Forbidden$/m, title: /^Jupyter/, line: `app_type: notebook` },
    { asks: true, title: /^code-server login$/, line: `--auth=none` },
    { asks: true, title: /^Jupyter/, path: /^\/login$/, line: `app_type: notebook` },
    { asks: true, path: /^\/auth-sign-in$/, line: `app_type: rstudio` },
    { asks: true, title: /^marimo$/i, path: /^\/auth\/login$/, line: `--no-token` },
  ];
  // Answers of a sidecar or proxy whose app does not answer yet.
  const TEMPORARY = [502, 503, 504];

  const app = document.getElementById("app");
  const note = document.getElementById("answer");
  const said = note.dataset;
  let isFirst = true;

  // Returns the status of a page. 0: the browser does not tell it.
  function statusOf(page) {
    const [navigation] = page.defaultView.performance.getEntriesByType("navigation");
    return navigation?.responseStatus ?? 0;
  }

  // Returns the page of the app; null for a page of another origin, for a temporary answer, and for a notice of the sidecar,
  // which leads to the launcher.
  function shown() {
    const page = app.contentDocument;
    if (!page?.body || page.URL === "about:blank" || TEMPORARY.includes(statusOf(page))) return null;
    const link = page.querySelector("body > main a[target=_top]");
    return link?.href.startsWith(`${document.body.dataset.launcher}/`) ? null : page;
  }

  // Returns the sentences about the page, with the missing setting; null for a page without trouble.
  function trouble(page) {
    const status = statusOf(page);
    const text = page.body.innerText.trim().slice(0, 5_000);
    const is = (pattern, value) => !pattern || pattern.test(value);
    const setting = SETTINGS.find((setting) =>
      is(setting.text, text) && is(setting.title, page.title) && is(setting.path, page.location.pathname));
    const asks = setting?.asks || status === 401;
    if (!setting && status < 400) return null;
    return { says: asks ? said.asks : setting ? said.refuses : said.answered.replace("{status}", status), line: setting?.line };
  }

  // Only the first page counts: an app may answer later requests with an error. The note goes when another page is shown.
  function examine() {
    const page = shown();
    if (!page) return;
    const found = isFirst || note.textContent ? trouble(page) : null;
    isFirst = false;
    const parts = found ? [found.says] : [];
    if (found?.line) {
      const code = Object.assign(document.createElement("code"), { textContent: found.line, dir: "ltr" });
      const [before, after] = said.line.split("{line}");
      parts.push(` ${before}`, code, after);
    }
    note.replaceChildren(...parts);
  }

  app.addEventListener("load", examine);
  if (app.contentDocument?.readyState === "complete") examine();
})();
