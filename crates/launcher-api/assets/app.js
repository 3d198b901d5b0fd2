// Adds local times, countdowns and spoken state changes to pages that work without it. The server decides everything.
(() => {
  "use strict";

  const SOON = 10 * 60;
  const URGENT = 2 * 60;
  const title = document.title;
  const spoken = new Map();
  // State change that the page title shows, because it happened while the page had no focus.
  let news = "";
  const states = new Map();
  let skew = 0;

  // Key of the time of the last message of a class that the reader has dismissed.
  const DISMISSED = "dismissed-message";
  const each = (selector, act, root = document) => root.querySelectorAll(selector).forEach(act);
  // Texts that the page passes to this script. `{name}` in a text is a placeholder for a value.
  const said = document.body.dataset;
  const fill = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => values[name]);

  // The browser's own locale if it is of the page's language, because it knows the reader's region.
  const language = document.documentElement.lang;
  const locale = navigator.languages.find((one) => one.split("-")[0] === language) ?? language;

  // Formats durations in the page's language, with the same result as the server.
  const amounts = ["day", "hour", "minute", "second"].map((unit) => {
    const style = { style: "unit", unit, unitDisplay: "long", useGrouping: false };
    return new Intl.NumberFormat(language, style);
  });

  function words(seconds) {
    const left = Math.max(seconds, 0);
    const counts = [Math.floor(left / 86400), Math.floor(left / 3600) % 24, Math.floor(left / 60) % 60];
    const parts = counts.flatMap((count, which) => (count ? amounts[which].format(count) : []));
    return parts.length ? parts.join(" ") : amounts[3].format(left);
  }

  function say(text) {
    const live = document.getElementById("announcer");
    if (live) live.textContent = text;
  }

  // Countdowns use the server's clock, because the clock of a laptop may be wrong by minutes.
  function readSkew() {
    const now = document.querySelector("[data-now]");
    if (now) skew = Date.parse(now.dataset.now) - Date.now();
  }

  function localTimes() {
    const full = new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "short" });
    const hours = new Intl.DateTimeFormat(locale, { timeStyle: "short" });
    const today = new Date().toDateString();
    each("time[data-local]", (time) => {
      const date = new Date(time.dateTime);
      if (Number.isNaN(date.getTime())) return;
      time.textContent = (date.toDateString() === today ? hours : full).format(date);
      time.title = full.format(date);
    });
    each("option[data-local]", (option) => {
      const date = new Date(option.value);
      option.textContent = (date.toDateString() === today ? hours : full).format(date);
    });
  }

  const canNotify = () => "Notification" in window && Notification.permission === "granted";

  function speakOnce(workshop, level, text) {
    if (spoken.get(workshop.id) === level) return;
    spoken.set(workshop.id, level);
    if (!level) return;
    say(text);
    // The tag of a notification is the workshop's id, so that a second warning replaces the first.
    notify(workshop, text, said.spokenAdvice);
  }

  function notify(workshop, text, body) {
    if (canNotify()) new Notification(text, { tag: workshop.id, body });
  }

  // Asks for permission only after a click: after a refusal, a browser never asks again.
  function offerNotifications() {
    const button = document.getElementById("notify");
    if (!button || !("Notification" in window) || Notification.permission !== "default") return;
    button.hidden = false;
    button.addEventListener("click", async () => {
      const answer = await Notification.requestPermission();
      button.hidden = answer !== "default";
      say(answer === "granted" ? button.dataset.on : button.dataset.off);
    });
  }

  // Draws the time left as a part of the ring, and as hours and minutes within it.
  function drawRing(ring, end, left) {
    if (!ring) return;
    const whole = Math.max((end - Date.parse(ring.dataset.from)) / 1000, 1);
    ring.querySelector(".ring-left").setAttribute("stroke-dasharray", `${Math.max((left * 100) / whole, 1)} 100`);
    const minutes = String(Math.floor(left / 60) % 60).padStart(2, "0");
    ring.querySelector("text").textContent = [Math.floor(left / 3600), minutes].join(":");
  }

  function countdown() {
    let nearest = null;
    each("[data-workshop]", (workshop) => {
      const time = workshop.querySelector("time[data-countdown]");
      if (!time) return;
      const left = Math.floor((Date.parse(time.dateTime) - Date.now() - skew) / 1000);
      time.textContent = words(left);
      drawRing(workshop.querySelector(".ring"), Date.parse(time.dateTime), Math.max(left, 0));
      workshop.classList.toggle("is-soon", left <= SOON && left > URGENT);
      workshop.classList.toggle("is-urgent", left <= URGENT);
      const level = left <= URGENT ? "urgent" : left <= SOON ? "soon" : "";
      speakOnce(workshop, level, fill(said.spokenEnd, { name: workshop.dataset.workshop, left: words(left) }));
      if (nearest === null || left < nearest) nearest = left;
    });
    each("time[data-since]", (time) => {
      time.textContent = words(Math.floor((Date.now() + skew - Date.parse(time.dateTime)) / 1000));
    });
    const end = nearest !== null && nearest <= SOON ? `(${words(nearest)})` : "";
    document.title = [end, news, title].filter(Boolean).join(" ");
  }

  // Announces states that changed since the last refresh. The first refresh announces nothing.
  function speakStates(first) {
    const before = new Map(states);
    states.clear();
    each("[data-workshop][data-state]", (workshop) => {
      const state = workshop.dataset.stateText;
      if (!first && before.get(workshop.id) !== state) announce(workshop, `${workshop.dataset.workshop}: ${state}`);
      states.set(workshop.id, state);
    });
    const isSame = before.size === states.size && [...states].every(([id, state]) => before.get(id) === state);
    if (first || isSame) return removeOldNotice(false);
    removeOldNotice(true);
    // The cards name the reader's workshops. At its start, the page has both from one moment.
    document.getElementById("cards")?.dispatchEvent(new Event("stale"));
  }

  // Removes a notice when a workshop changes after it: "You have 3 workshops" may be untrue then. Keeps a notice that
  // arrived together with the change.
  let seenNotice = null;
  function removeOldNotice(isChanged) {
    const notice = document.querySelector("#notice > .notice");
    if (isChanged && notice === seenNotice) notice?.remove();
    seenNotice = notice;
  }

  // Adds each new state to the log of the waiting page.
  function logStart() {
    const log = document.getElementById("start-log");
    const state = document.querySelector("#start-content")?.dataset.logText;
    const lines = log?.querySelector("ol");
    if (!state || lines.lastElementChild?.dataset.state === state) return;
    const line = document.createElement("li");
    line.dataset.state = state;
    const time = new Intl.DateTimeFormat(locale, { timeStyle: "medium" }).format(Date.now() + skew);
    line.textContent = [time, state].join(" ");
    lines.append(line);
    log.hidden = false;
  }

  // Opens the workshop of the waiting page. Replaces the page, so that "Back" does not lead to a page that opens the
  // workshop again.
  let opening = null;
  function openWhenReady() {
    const ready = document.querySelector("[data-opens]");
    if (ready) opening ??= setTimeout(() => location.replace(ready.dataset.opens), Number(ready.dataset.opensIn));
  }

  // Announces the state. Also shows "ready" and "failed" in the title and a notification: the user may be in another
  // tab.
  function announce(workshop, text) {
    say(text);
    if (!["running", "failed"].includes(workshop.dataset.state) || document.hasFocus()) return;
    news = `${text} –`;
    notify(workshop, text, "");
  }

  window.addEventListener("focus", () => (news = ""));

  function refresh(first) {
    readSkew();
    localTimes();
    countdown();
    speakStates(first);
    logStart();
    openWhenReady();
    showCopyButtons();
    hideDismissed();
  }

  refresh(true);
  offerNotifications();
  setInterval(countdown, 1000);
  document.addEventListener("htmx:after:swap", () => refresh(false));

  // A focused button disappears when its workshop ends. Moves the focus to the list, not to the top of the page.
  let focused = null;
  document.addEventListener("focusin", (event) => (focused = event.target));
  document.addEventListener("pointerdown", () => (focused = null));
  document.addEventListener("htmx:after:swap", () => {
    if (focused && !focused.isConnected && document.activeElement === document.body) {
      document.getElementById("mine")?.focus();
    }
  });

  // Reloads a page from the back-forward cache, because it shows old states and old form keys.
  window.addEventListener("pageshow", (event) => {
    if (event.persisted) location.reload();
  });

  // Reloads the page after the session has ended, which leads to the sign-in. A login proxy may answer with a redirect
  // to another site instead of 401. A script sees such a redirect only as a failed request, so a separate request
  // detects it.
  // `leaving` prevents a reload during a navigation, because the reload would replace the navigation. A sign-out, for
  // example, ends the session before the next page loads.
  let leaving = false;
  window.addEventListener("beforeunload", () => {
    leaving = true;
    // If the navigation fails, for example without a connection, the page stays. Reloads are possible again then.
    setTimeout(() => (leaving = false), 10_000);
  });
  // "Try again" and "Cancel" end the workshop of the waiting page. The refresh after this end must not stop the navigation to
  // the next page.
  document.addEventListener("htmx:before:response", (event) => {
    if (leaving && event.detail.ctx.response.headers.has("HX-Refresh")) event.preventDefault();
  });
  async function checkSession(request) {
    if (leaving) return;
    try {
      const answer = await fetch("/fragments/workshops", { redirect: "manual" });
      if (leaving || (answer.type !== "opaqueredirect" && answer.status !== 401)) return;
      // The path of the form "Launch" is also the page of its template: after the sign-in, the user is there again.
      if (isLaunch(request)) location.assign(request.action);
      else location.reload();
    } catch {
      // The server is unreachable: htmx retries its own request.
    }
  }
  const isLaunch = (request) => request?.method === "POST" && request.action?.startsWith("/launch/");
  for (const failure of ["htmx:response:error", "htmx:error", "htmx:sse:error"]) {
    document.addEventListener(failure, (event) => checkSession(event.detail?.ctx?.request));
  }

  // Delay of the notice "connection lost", in milliseconds. A stream that reconnects within the delay shows no notice.
  const OFFLINE_DELAY = 3000;
  let offlineTimer = null;
  function setConnected(isConnected) {
    const notice = document.getElementById("offline");
    if (isConnected) {
      clearTimeout(offlineTimer);
      offlineTimer = null;
      notice.hidden = true;
    } else {
      // The delay starts at the first failure: a failed retry does not restart it.
      offlineTimer ??= setTimeout(() => (notice.hidden = false), OFFLINE_DELAY);
    }
  }
  window.addEventListener("offline", () => setConnected(false));
  window.addEventListener("online", () => setConnected(true));
  document.addEventListener("htmx:sse:error", () => setConnected(false));
  document.addEventListener("htmx:sse:after:connection", () => setConnected(true));

  // A 4xx error page means that the shown content no longer exists: reloads the page instead of inserting the error
  // page. After a 5xx error the content still exists: htmx inserts nothing, and retries at the next trigger.
  document.addEventListener("htmx:before:swap", (event) => {
    const ctx = event.detail?.ctx;
    const status = ctx?.response?.status;
    if (status >= 400 && status < 500 && ctx.text?.trimStart().toLowerCase().startsWith("<!doctype")) {
      event.preventDefault();
      if (!leaving) location.reload();
    }
  });

  // Shows a notice if an action fails with a 5xx error, or gets no answer.
  for (const failure of ["htmx:response:error", "htmx:error"]) {
    document.addEventListener(failure, ({ detail }) => {
      const notice = document.getElementById("not-done");
      const ctx = detail?.ctx;
      if (!notice || !ctx?.request || ctx.request.method === "GET" || ctx.response?.status < 500) return;
      document.getElementById("notice").replaceChildren(notice.content.cloneNode(true));
    });
  }

  // Buttons that copy a text. Without the clipboard, which needs HTTPS or localhost, they stay hidden.
  function showCopyButtons() {
    if (navigator.clipboard) each("[data-copy]", (button) => (button.hidden = false));
  }
  document.addEventListener("click", async (event) => {
    const button = event.target.closest?.("[data-copy]");
    if (!button) return;
    await navigator.clipboard.writeText(button.dataset.copy);
    say(button.dataset.done);
    const label = button.firstChild;
    const text = (label.original ??= label.data);
    label.data = button.dataset.done;
    setTimeout(() => (label.data = text), 2000);
  });

  // A message of a class that the reader has dismissed stays hidden in this browser. Without a store, it comes back with the
  // next change of the page.
  function hideDismissed() {
    each("[data-dismiss]", (button) => {
      button.hidden = false;
      const message = button.closest("[data-message]");
      try {
        message.hidden = localStorage.getItem(DISMISSED) === message.dataset.message;
      } catch {
        message.hidden = false;
      }
    });
  }
  document.addEventListener("click", ({ target }) => {
    const button = target.closest?.("[data-dismiss]");
    if (!button) return;
    const message = button.closest("[data-message]");
    try {
      localStorage.setItem(DISMISSED, message.dataset.message);
    } catch {
      // See above.
    }
    message.hidden = true;
    document.getElementById("main").focus();
  });

  // Keeps what the user has typed when a preset is chosen.
  each("[data-chooses]", (link) => {
    const form = document.getElementById("template-form");
    const typed = () => new URLSearchParams(new FormData(form)).toString();
    const before = typed();
    link.addEventListener("click", (event) => {
      if (typed() === before) return;
      event.preventDefault();
      const choice = Object.assign(document.createElement("input"), { type: "hidden", name: "choose", value: link.dataset.chooses });
      form.append(choice);
      form.submit();
    });
  });

  // Shows the short link that the server derives from the name of a new template.
  each("[data-slug-of]", (hint) => {
    const letters = { ß: "ss", æ: "ae", œ: "oe", ø: "o", ł: "l", đ: "d", ı: "i", þ: "th", ð: "d" };
    const plain = (text) => text.toLowerCase().normalize("NFD").replace(/\p{M}/gu, "").replace(/[ßæœøłđıþð]/g, (one) => letters[one]);
    const cut = (text) => text.replace(/[^a-z0-9]+/g, "-").replace(/^-/, "").slice(0, 40).replace(/-$/, "");
    document.getElementById(hint.dataset.slugOf).addEventListener("input", ({ target }) => {
      const slug = cut(plain(target.value));
      hint.hidden = slug.length < 2;
      hint.querySelector("b").textContent = slug;
    });
  });

  // "Back" to an address that launches must not launch again.
  if (new URLSearchParams(location.search).has("start")) history.replaceState(null, "", location.pathname);

  // Opens a folded part of the page if the address names it.
  const named = location.hash && document.getElementById(location.hash.slice(1));
  if (named?.tagName === "DETAILS") named.open = true;

  // Closes menus after Escape, after an action, and when the focus or the pointer goes elsewhere.
  function closeMenus(isToClose) {
    each("details.menu[open]", (menu) => {
      if (!isToClose(menu)) return;
      if (menu.contains(document.activeElement)) menu.querySelector("summary").focus();
      menu.open = false;
    });
  }
  document.addEventListener("keydown", ({ key }) => /^Escape$/.test(key) && closeMenus(() => true));
  for (const type of ["pointerdown", "focusin"]) {
    document.addEventListener(type, ({ target }) => closeMenus((menu) => !menu.contains(target)));
  }
  document.addEventListener("submit", ({ target }) => closeMenus((menu) => menu.contains(target)));

  // Parts of a page that stay open or folded on all pages. Without a store, as in private windows of some browsers, they
  // begin folded.
  each("details[data-remembered]", (part) => {
    try {
      part.open = localStorage.getItem(part.id) === "open";
      part.addEventListener("toggle", () => localStorage.setItem(part.id, part.open ? "open" : "folded"));
    } catch {
      part.open = false;
    }
  });

  document.addEventListener("submit", (event) => {
    const button = event.submitter;
    if (!button || event.defaultPrevented) return;
    button.classList.add("is-busy");
    setTimeout(() => button.classList.remove("is-busy"), 4000);
  });
})();
