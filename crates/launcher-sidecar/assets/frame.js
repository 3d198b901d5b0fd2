// Keeps the bar of the frame page up to date: the time left, the warnings, a crash, and the title and path of the app.
(() => {
  "use strict";

  // Remaining seconds below which the bar warns.
  const SOON = 10 * 60;
  const URGENT = 60;
  // Interval between two status requests, in milliseconds: usually, and in the minute after an extension.
  const POLL = 60_000;
  const FAST_POLL = 3_000;
  const FAST_TIME = 60_000;
  // Key of the app's last path in the storage of this tab.
  const LAST_PATH = "launcher-frame-path";
  // Time in which the status may still show the expiry before an extension, in milliseconds. On a cluster, the kubelet
  // writes the new expiry with this delay.
  const LAG = 150_000;

  const said = document.body.dataset;
  const app = document.getElementById("app");
  const extend = document.getElementById("extend");
  const part = (name) => document.getElementById(name);
  const loadedAt = Date.now();
  let appTitle = document.title;
  let expiry = null;
  let skew = 0;
  let extendedAt = -Infinity;
  let fastUntil = 0;
  let polledAt = 0;
  let popup = null;
  let note = "";
  let crash = null;
  // Time of the last crash in the first status after this page was loaded: null for none, undefined before that status.
  let knownCrash;

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

  const setText = (element, text) => {
    if (element.textContent !== text) element.textContent = text;
  };

  // Returns the note about a crash of the app, until this page is loaded again after the crash. On a cluster, the status
  // reports a crash with a delay. The fleet rounds its time down to whole seconds.
  function crashNote() {
    if (!crash || crash.at === knownCrash || Date.parse(crash.at) + 1000 <= loadedAt + skew) return "";
    if (crash.files_lost) return said.filesLost;
    return crash.out_of_memory ? said.outOfMemory : said.crashed;
  }

  // Shows the time left, and notes. A screen reader announces only a change of the level, and a note.
  function show() {
    const left = expiry === null ? Infinity : Math.floor((expiry - Date.now() - skew) / 1000);
    const crashed = left > URGENT ? crashNote() : "";
    const level = left <= URGENT || note ? "urgent" : left <= SOON || crashed ? "soon" : "";
    const ending = left <= SOON ? said.warning.replace("{left}", words(left)) : "";
    const warning = note || (left <= 0 ? said.over : crashed || ending);
    const step = note || (left <= 0 ? "over" : crashed || level);
    if (said.step !== step) setText(part("spoken"), warning);
    said.step = step;
    said.level = level;
    const shows = left > 0 && left < Infinity && !note;
    setText(part("left"), shows && (!level || crashed) ? said.left.replace("{left}", words(left)) : "");
    setText(part("warning"), warning);
    if (extend) extend.hidden = !shows;
    const title = shows && left <= SOON ? `(${words(left)}) ${appTitle}` : appTitle;
    if (document.title !== title) document.title = title;
    setText(part("title"), appTitle);
  }

  function setExpiry(text) {
    const next = text === null ? null : Date.parse(text);
    if (Number.isNaN(next)) return;
    const isOld = next !== null && expiry !== null && next < expiry && Date.now() - extendedAt < LAG;
    if (!isOld) expiry = next;
  }

  async function poll() {
    polledAt = Date.now();
    try {
      const headers = { Accept: "application/json" };
      const answer = await fetch(said.status, { headers, redirect: "manual", cache: "no-store" });
      if (answer.type === "opaqueredirect" || answer.status === 401) note = said.signedOut;
      else if ([403, 404].includes(answer.status)) note = said.over;
      else if (answer.ok) {
        const status = await answer.json();
        skew = Date.parse(status.now) - Date.now();
        setExpiry(status.expires_at);
        crash = status.crash;
        if (knownCrash === undefined) knownCrash = crash ? crash.at : null;
        note = "";
      }
    } catch {
      // The workshop is unreachable: the next request may succeed.
    }
    show();
  }

  // Returns path, query and fragment of the app's page; null while the frame shows no page of this origin.
  function appPath() {
    try {
      const { origin, pathname, search, hash } = app.contentWindow.location;
      const isOwn = origin === location.origin && !pathname.startsWith(said.prefix);
      return isOwn ? pathname + search + hash : null;
    } catch {
      return null;
    }
  }

  // Shows the app's last page again after a reload. The sidecar ignores the path in the address if another site led here.
  function resume() {
    const [navigation] = performance.getEntriesByType("navigation");
    const path = sessionStorage.getItem(LAST_PATH);
    const isLocal = path?.startsWith("/") && !path.startsWith("//") && !path.startsWith(said.prefix);
    const isRepeated = ["reload", "back_forward"].includes(navigation?.type);
    if (isRepeated && isLocal && app.getAttribute("src") !== path) app.src = path;
  }

  // Stores the app's path in the address, so that a bookmark leads to the same page of the app, and for a reload.
  function follow() {
    const path = appPath();
    if (path === null) return;
    sessionStorage.setItem(LAST_PATH, path);
    const query = path === said.start ? "" : `?path=${encodeURIComponent(path).replaceAll("%2F", "/")}`;
    const here = said.frame + query;
    if (location.pathname + location.search !== here) history.replaceState(null, "", here);
    const page = app.contentDocument;
    appTitle = page?.title || appTitle;
    const icon = page?.querySelector("link[rel~=icon]")?.href;
    if (icon && part("icon").href !== icon) part("icon").href = icon;
  }

  function watchPopup() {
    if (!popup?.closed) return;
    popup = null;
    fastUntil = Date.now() + FAST_TIME;
    app.focus();
    poll();
  }

  function tick() {
    watchPopup();
    follow();
    show();
    const interval = Date.now() < fastUntil ? FAST_POLL : POLL;
    if (Date.now() - polledAt >= interval) poll();
  }

  extend?.addEventListener("click", (event) => {
    popup = window.open(extend.href, "workshop-extend", "popup,width=460,height=380");
    // Without the window, for example because the browser blocks it, the link opens a tab.
    if (popup) event.preventDefault();
  });

  // The launcher's window reports the new expiry. Every other sender is ignored.
  addEventListener("message", (event) => {
    if (event.origin !== said.launcher || event.source !== popup || event.data?.type !== "workshop-expiry") return;
    if (typeof event.data.expires_at !== "string") return;
    setExpiry(event.data.expires_at);
    extendedAt = Date.now();
    show();
  });

  // The app gets the focus, so that its keyboard shortcuts work without a click.
  app.addEventListener("load", () => {
    if ([document.body, app].includes(document.activeElement)) app.focus();
    follow();
    show();
  });
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) poll();
  });
  addEventListener("online", poll);

  resume();
  poll();
  setInterval(tick, 1000);
})();
