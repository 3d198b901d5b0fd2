// Improves pages that work without it: local times, countdowns, spoken state changes. The server decides everything.
(() => {
  "use strict";

  const SOON = 10 * 60;
  const URGENT = 2 * 60;
  const title = document.title;
  const spoken = new Map();
  // What happened while nobody looked, for the title.
  let news = "";
  const states = new Map();
  let skew = 0;

  const each = (selector, act, root = document) => root.querySelectorAll(selector).forEach(act);
  // The page hands over its words: `{name}` in them is a place for a value.
  const said = document.body.dataset;
  const fill = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => values[name]);

  // In the page's language, as the server says a duration.
  const amounts = ["day", "hour", "minute", "second"].map((unit) => {
    const style = { style: "unit", unit, unitDisplay: "long", useGrouping: false };
    return new Intl.NumberFormat(document.documentElement.lang, style);
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

  // The countdown goes by the server's clock: a laptop's may be wrong by minutes.
  function readSkew() {
    const now = document.querySelector("[data-now]");
    if (now) skew = Date.parse(now.dataset.now) - Date.now();
  }

  function localTimes() {
    const full = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
    const hours = new Intl.DateTimeFormat(undefined, { timeStyle: "short" });
    const today = new Date().toDateString();
    each("time[data-local]", (time) => {
      const date = new Date(time.dateTime);
      if (Number.isNaN(date.getTime())) return;
      time.textContent = (date.toDateString() === today ? hours : full).format(date);
      time.title = full.format(date);
    });
  }

  // One box for all of a table.
  function tickAll() {
    const all = document.querySelector("[data-tick-all]");
    if (!all) return;
    all.hidden = false;
    all.onchange = () => each("input[name=ticked]", (box) => (box.checked = all.checked));
  }

  const canNotify = () => "Notification" in window && Notification.permission === "granted";

  function speakOnce(workshop, level, text) {
    if (spoken.get(workshop.id) === level) return;
    spoken.set(workshop.id, level);
    if (!level) return;
    say(text);
    // One for each workshop: the second warning takes the first one's place.
    notify(workshop, text, said.spokenAdvice);
  }

  function notify(workshop, text, body) {
    if (canNotify()) new Notification(text, { tag: workshop.id, body });
  }

  // Asked only when somebody wants it: a browser that was told no once does not ask again.
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

  function countdown() {
    let nearest = null;
    each("[data-workshop]", (workshop) => {
      const time = workshop.querySelector("time[data-countdown]");
      if (!time) return;
      const left = Math.floor((Date.parse(time.dateTime) - Date.now() - skew) / 1000);
      time.textContent = words(left);
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

  // Says what changed since the last look, not what is there at first.
  function speakStates(first) {
    each("[data-workshop][data-state]", (workshop) => {
      const state = workshop.dataset.stateText;
      if (!first && states.get(workshop.id) !== state) tell(workshop, `${workshop.dataset.workshop}: ${state}`);
      states.set(workshop.id, state);
    });
  }

  // Whoever waits for it looks at something else meanwhile.
  function tell(workshop, text) {
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
    tickAll();
    speakStates(first);
  }

  refresh(true);
  offerNotifications();
  setInterval(countdown, 1000);
  document.addEventListener("htmx:after:swap", () => refresh(false));

  // Who has just ended a workshop stands where its button was: not at the top of the page again.
  let place = null;
  document.addEventListener("focusin", (event) => (place = event.target));
  document.addEventListener("pointerdown", () => (place = null));
  document.addEventListener("htmx:after:swap", () => {
    if (place && !place.isConnected && document.activeElement === document.body) {
      document.getElementById("mine")?.focus();
    }
  });

  // A page from the browser's memory shows old states and old form keys.
  window.addEventListener("pageshow", (event) => {
    if (event.persisted) location.reload();
  });

  // When the session has ended, loading the page again leads to the sign-in. A login proxy may answer with a redirect to
  // another site instead of 401, which a script only sees as a failed request: so it is asked once more, by itself.
  // Not from a page that is being left: loading it again would take the place of where its reader goes. Who signs out has
  // no session any more before the next page is there.
  let leaving = false;
  window.addEventListener("beforeunload", () => {
    leaving = true;
    // Whoever did not get away, for want of a connection, say, still reads it.
    setTimeout(() => (leaving = false), 10_000);
  });
  async function checkSession() {
    if (leaving) return;
    try {
      const answer = await fetch("/fragments/workshops", { redirect: "manual" });
      if (!leaving && (answer.type === "opaqueredirect" || answer.status === 401)) location.reload();
    } catch {
      // No connection: htmx tries again by itself.
    }
  }
  for (const failure of ["htmx:response:error", "htmx:error", "htmx:sse:error"]) {
    document.addEventListener(failure, checkSession);
  }

  // A stream that is taken up again at once was never lost.
  const PATIENCE = 3000;
  let worry = null;
  function connected(there) {
    const notice = document.getElementById("offline");
    if (there) {
      clearTimeout(worry);
      worry = null;
      notice.hidden = true;
    } else {
      // From the first failure on, however often it is tried again.
      worry ??= setTimeout(() => (notice.hidden = false), PATIENCE);
    }
  }
  window.addEventListener("offline", () => connected(false));
  window.addEventListener("online", () => connected(true));
  document.addEventListener("htmx:sse:error", () => connected(false));
  document.addEventListener("htmx:sse:after:connection", () => connected(true));

  // An error that is a page of its own (what the page shows is gone) is not put into a part of this one. After a fault of the
  // service's what the page shows is still there: htmx puts nothing in its place, and asks again in its turn.
  document.addEventListener("htmx:before:swap", (event) => {
    const ctx = event.detail?.ctx;
    const status = ctx?.response?.status;
    if (status >= 400 && status < 500 && ctx.text?.trimStart().toLowerCase().startsWith("<!doctype")) {
      event.preventDefault();
      if (!leaving) location.reload();
    }
  });

  // But whoever pressed a button waits for what became of it.
  document.addEventListener("htmx:response:error", ({ detail: { ctx } }) => {
    const notice = document.getElementById("not-done");
    if (!notice || ctx.response.status < 500 || ctx.request.method === "GET") return;
    document.getElementById("notice").replaceChildren(notice.content.cloneNode(true));
  });

  document.addEventListener("submit", (event) => {
    const button = event.submitter;
    if (!button || event.defaultPrevented) return;
    button.classList.add("is-busy");
    setTimeout(() => button.classList.remove("is-busy"), 4000);
  });
})();
