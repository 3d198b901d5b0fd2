// Keeps the bar of the frame page up to date: the time left, the warnings, a crash, and the title and path of the app. Covers
// the app when the workshop has stopped.
(() => {
  "use strict";

  // Remaining seconds below which the bar warns.
  const SOON = 10 * 60;
  const URGENT = 60;
  // Interval between two status requests without an event stream, in milliseconds: while the page is visible, and hidden.
  const POLL = 5_000;
  const HIDDEN_POLL = 60_000;
  // Time until a stream counts as broken, in milliseconds: without a first event, and without a further one. The sidecar sends
  // an event at least every 15 seconds. A proxy in front may hold events back.
  const FIRST_EVENT = 5_000;
  const SILENCE = 40_000;
  // Time until the next stream after one that sent no event, in milliseconds.
  const RETRY = 60_000;
  // Number of refused status requests in a row after which the app is covered.
  const REFUSALS = 2;
  // Maximum time of the skeleton, in milliseconds: after the app's page has loaded, and in total.
  const PAINT = 3_000;
  const LOAD = 20_000;
  // States of a workshop that answers, or will.
  const LIVE = ["queued", "starting", "running"];
  // Key of the app's last path in the storage of this tab.
  const LAST_PATH = "launcher-frame-path";
  // Key of the number of times that this page was opened in this tab in a row, and the time of the last one.
  const STARTS = "launcher-frame-starts";
  // Maximum time between two such starts, in milliseconds. An app that leaves every frame starts this page again and again:
  // from this number of starts on, the app is shown without the bar. Every eighth start tries the frame again, in case that
  // the browser stores no cookie.
  const IN_A_ROW = 10_000;
  const LOOP = 4;
  const RETRIED_START = 8;
  // Minimum time between two returns of the frame from another site, in milliseconds.
  const RETURN = 2_000;
  // Time in which the sidecar shows a page of the app without the bar, in seconds.
  const PLAIN = 10;
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
  let polledAt = 0;
  let isPolling = false;
  let stream = null;
  // True once the stream has sent an event, the time of its last event, and the earliest time of the next stream.
  let hasEvents = false;
  let heardAt = 0;
  let streamAt = 0;
  // Earliest time of the next registration of the worker.
  let workerAt = 0;
  let refusals = 0;
  let isDown = false;
  // True after the launcher's reason replaced the cover. Reload the page when the workshop answers again.
  let isReplaced = false;
  let popup = null;
  let note = "";
  let crash = null;
  // Address of the last navigation that the app's present page began.
  let target = null;
  // Page of the app that leads to another site, until the next page. True until the frame is led back, and on the way back.
  let leaving = null;
  let isAstray = false;
  let isReturning = false;
  let returnedAt = -Infinity;
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

  // Lays the cover over the app, which takes no input any more. `reason` is the launcher's answer; without it, the cover has
  // the texts of the page.
  function cover(reason) {
    const element = part("cover");
    if (reason) {
      // A workshop that starts again keeps its page: a reload would lose unsaved changes.
      isReplaced = !LIVE.includes(reason.state);
      setText(part("cover-title"), reason.title);
      const times = new Intl.DateTimeFormat(document.documentElement.lang, { dateStyle: "medium", timeStyle: "short" });
      const paragraphs = reason.paragraphs.map(({ text, time }) =>
        Object.assign(document.createElement("p"), { textContent: time ? text.replace("{time}", times.format(Date.parse(time))) : text }));
      part("cover-text").replaceChildren(...paragraphs);
      const links = reason.links.filter(({ url }) => url.startsWith(`${said.launcher}/`));
      part("cover-links").replaceChildren(...links.map(({ label, url }) =>
        Object.assign(document.createElement("a"), { textContent: label, href: url })));
    }
    part("skeleton").hidden = true;
    if (!element.hidden) return;
    element.hidden = false;
    app.inert = true;
    element.focus();
  }

  // Removes the cover when the workshop answers again. The app is loaded again if the launcher had said that it stopped.
  function uncover() {
    if (part("cover").hidden) return;
    if (isReplaced) return location.reload();
    part("cover").hidden = true;
    app.inert = false;
    app.focus();
  }

  // Shows the time left, and notes. A screen reader announces only a change of the level, and a note.
  function show() {
    const isCovered = !part("cover").hidden;
    const left = expiry === null || isCovered ? Infinity : Math.floor((expiry - Date.now() - skew) / 1000);
    const crashed = left > URGENT && !isCovered ? crashNote() || (isDown ? said.down : "") : "";
    const level = left <= URGENT || note ? "urgent" : left <= SOON || crashed ? "soon" : "";
    const ending = left <= SOON ? said.warning.replace("{left}", words(left)) : "";
    const warning = note || (left <= 0 ? said.over : crashed || ending);
    const title = isCovered ? part("cover-title").textContent : "";
    const step = note || title || (left <= 0 ? "over" : crashed || level);
    if (said.step !== step) setText(part("spoken"), title || warning);
    said.step = step;
    said.level = level;
    const shows = left > 0 && left < Infinity && !note;
    setText(part("left"), shows && (!level || crashed) ? said.left.replace("{left}", words(left)) : "");
    setText(part("warning"), warning);
    if (extend) extend.hidden = !shows;
    const name = shows && left <= SOON ? `(${words(left)}) ${appTitle}` : appTitle;
    if (document.title !== name) document.title = name;
    setText(part("title"), appTitle);
  }

  function setExpiry(text) {
    const next = text === null ? null : Date.parse(text);
    if (Number.isNaN(next)) return;
    const isOld = next !== null && expiry !== null && next < expiry && Date.now() - extendedAt < LAG;
    if (!isOld) expiry = next;
  }

  // Takes over a status of the sidecar.
  function apply(status) {
    skew = Date.parse(status.now) - Date.now();
    setExpiry(status.expires_at);
    crash = status.crash;
    if (knownCrash === undefined) knownCrash = crash ? crash.at : null;
    isDown = status.app === "down";
    refusals = 0;
    note = "";
    uncover();
    show();
  }

  const isJson = (answer) => (answer.headers.get("Content-Type") ?? "").startsWith("application/json");

  // Returns the launcher's answer about the workshop; null if the proxy in front does not lead there.
  async function askLauncher() {
    if (!said.stopped) return null;
    const answer = await fetch(said.stopped, { redirect: "manual", cache: "no-store" });
    return answer.ok && isJson(answer) ? answer.json() : null;
  }

  // Takes over an answer that is no status. On one machine, it is the launcher's reason to the owner of a workshop that does not
  // run. On a cluster, the launcher gives the reason at a path of its own.
  async function refuse(answer) {
    refusals += 1;
    if (isJson(answer)) return cover(await answer.json());
    const reason = await askLauncher().catch(() => null);
    if (refusals >= REFUSALS || (reason && !LIVE.includes(reason.state))) cover(reason);
  }

  async function poll() {
    if (isPolling) return;
    isPolling = true;
    polledAt = Date.now();
    try {
      const headers = { Accept: "application/json" };
      const answer = await fetch(said.status, { headers, redirect: "manual", cache: "no-store" });
      if (answer.type === "opaqueredirect" || answer.status === 401) note = said.signedOut;
      else if (answer.ok) apply(await answer.json());
      else await refuse(answer);
    } catch {
      // The workshop is unreachable: the next request may succeed.
    }
    isPolling = false;
    show();
  }

  function closeStream() {
    stream?.close();
    stream = null;
    streamAt = hasEvents ? 0 : Date.now() + RETRY;
  }

  // Opens the event stream, whose events are statuses. A hidden page has none: without HTTP/2, a browser has few connections.
  function openStream() {
    hasEvents = false;
    heardAt = Date.now();
    stream = new EventSource(said.events);
    stream.addEventListener("message", (event) => {
      hasEvents = true;
      heardAt = Date.now();
      apply(JSON.parse(event.data));
    });
    // The sidecar stops: the launcher knows why.
    stream.addEventListener("ended", () => {
      closeStream();
      cover();
      poll();
    });
    stream.addEventListener("error", () => {
      closeStream();
      poll();
    });
  }

  // Opens and closes the stream. While none sends events, requests the status regularly.
  function listen() {
    const isSilent = Date.now() - heardAt > (hasEvents ? SILENCE : FIRST_EVENT);
    if (stream && (document.hidden || isSilent)) closeStream();
    const isLive = stream && hasEvents;
    if (!isLive && Date.now() - polledAt >= (document.hidden ? HIDDEN_POLL : POLL)) poll();
    // A workshop that has stopped has no stream: wait for a status.
    if (!stream && !document.hidden && refusals === 0 && Date.now() >= streamAt) openStream();
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

  // Registers the worker of this page, so that no worker of the app answers for this page. An app may unregister all workers.
  function registerWorker() {
    if (Date.now() < workerAt) return;
    navigator.serviceWorker?.register(said.worker).catch(() => (workerAt = Date.now() + RETRY));
  }

  // True in a tab or window that a page of the app opened by a script.
  function isOpenedByApp() {
    try {
      return window.opener?.location.origin === location.origin;
    } catch {
      return false;
    }
  }

  // True if the sidecar has led a page of the app here.
  const isLedHere = () => performance.getEntriesByType("navigation")[0]?.redirectCount > 0;

  // Counts the starts of this page in a row: after the first one, the sidecar has led a page of the app here.
  function countStarts() {
    const [count, at] = (sessionStorage.getItem(STARTS) ?? "0 0").split(" ").map(Number);
    const starts = isLedHere() && Date.now() - at < IN_A_ROW ? count + 1 : 1;
    sessionStorage.setItem(STARTS, `${starts} ${Date.now()}`);
    return starts;
  }

  // True if the app must be the only page of this window: the app leaves every frame, or it opened a small window, whose page
  // and opener may need each other.
  function isUnframed() {
    const starts = countStarts() % RETRIED_START;
    return starts >= LOOP || (starts > 0 && isOpenedByApp() && !window.menubar.visible);
  }

  // Lets the sidecar show this page of the app alone. Otherwise the sidecar leads each page of the app here.
  function allowAlone({ pathname, search }) {
    document.cookie = `${said.plain}=${encodeURIComponent(pathname + search)}; Path=/; Max-Age=${PLAIN}; SameSite=Strict`;
  }

  // Shows the app in place of this page.
  function leave() {
    const { pathname, search } = new URL(app.getAttribute("src"), location.href);
    app.remove();
    allowAlone({ pathname, search });
    location.replace(pathname + search + location.hash);
  }

  // Passes on the fragment of the address, which browsers do not send.
  function passFragment() {
    if (!location.hash) return;
    const isLoaded = appPath() !== null;
    app.contentWindow.location.replace(app.getAttribute("src") + location.hash);
    // A page that was loaded before this script, from the cache, must begin again: it may read the fragment only then.
    if (isLoaded) app.contentWindow.location.reload();
  }

  // Returns the app's last path in this tab; null without one.
  function lastPath() {
    const path = sessionStorage.getItem(LAST_PATH);
    return path?.startsWith("/") && !path.startsWith("//") && !path.startsWith(said.prefix) ? path : null;
  }

  // Shows the app's last page again after a reload. The sidecar ignores the path in the address if another site led here.
  function resume() {
    const [navigation] = performance.getEntriesByType("navigation");
    const path = lastPath();
    const isRepeated = ["reload", "back_forward"].includes(navigation?.type);
    if (isRepeated && path && app.getAttribute("src") !== path) app.src = path;
  }

  // Stores the app's path in the address, so that a bookmark leads to the same page of the app, and for a reload.
  function follow() {
    const path = appPath();
    if (path === null) return;
    sessionStorage.setItem(LAST_PATH, path);
    const query = path === said.start ? [] : [`path=${encodeURIComponent(path).replaceAll("%2F", "/")}`];
    if (said.trouble) query.push(`${said.material}=${said.trouble}`);
    const here = said.frame + (query.length ? `?${query.join("&")}` : "");
    if (location.pathname + location.search !== here) history.replaceState(null, "", here);
    const page = app.contentDocument;
    appTitle = page?.title || appTitle;
    const icon = page?.querySelector("link[rel~=icon]")?.href;
    if (icon && part("icon").href !== icon) part("icon").href = icon;
  }

  function watchPopup() {
    if (!popup?.closed) return;
    popup = null;
    app.focus();
    poll();
  }

  const noteTarget = (event) => (target = event.destination.url);

  // Notes where the links of the app's page lead: a violation of the policy names only the site.
  function watchLinks() {
    try {
      app.contentWindow.navigation?.addEventListener("navigate", noteTarget);
    } catch {
      // A page of another origin, such as an error page of the browser.
    }
  }

  // Explains that a page of another site is not shown in the frame, with a link that opens it in a tab.
  function showOtherSite(address) {
    const url = new URL(address);
    // A page of the app that redirects to the other site: the tab must begin there.
    const isRedirect = url.origin === location.origin;
    const link = Object.assign(document.createElement("a"), {
      href: url.href, target: "_blank", rel: "noopener noreferrer", dir: "ltr", textContent: isRedirect ? url.pathname : url.host,
    });
    link.addEventListener("click", () => {
      if (isRedirect) allowAlone(url);
      part("other-site").hidden = true;
    });
    // The text changes while its element is shown: only then a screen reader announces it.
    part("other-site").hidden = false;
    const [before, after] = part("other-site").dataset.text.split("{link}");
    part("other-site").querySelector("p").replaceChildren(before, link, after);
  }

  // Leads the frame from the browser's error page back to the app. Without a click or a key of the reader, the app itself led
  // to the other site, and would do so again.
  function returnToApp() {
    const isEarly = Date.now() - returnedAt < RETURN;
    if (!isAstray || isEarly || appPath() !== null || !navigator.userActivation?.isActive) return;
    isAstray = false;
    isReturning = true;
    returnedAt = Date.now();
    app.contentWindow.location.replace(lastPath() ?? said.start);
  }

  // The note about another site goes when the app shows another page than the one that had the link.
  function arrive() {
    watchLinks();
    if (appPath() === null) return returnToApp();
    if (app.contentDocument === leaving) return;
    if (!isReturning) part("other-site").hidden = true;
    target = null;
    leaving = null;
    isAstray = false;
    isReturning = false;
  }

  function tick() {
    watchPopup();
    returnToApp();
    follow();
    show();
    listen();
    registerWorker();
  }

  // True once the app's page has painted. A page of another origin, such as an error page of the browser, counts as painted.
  function hasPainted() {
    try {
      return app.contentWindow.performance.getEntriesByName("first-contentful-paint").length > 0;
    } catch {
      return true;
    }
  }

  // Shows the name of the workshop until the app has painted. It takes no input and no focus.
  function showSkeleton() {
    const skeleton = part("skeleton");
    let until = Date.now() + LOAD;
    skeleton.hidden = false;
    app.addEventListener("load", () => (until = Math.min(until, Date.now() + PAINT)), { once: true });
    const timer = setInterval(() => {
      if (!hasPainted() && Date.now() < until) return;
      clearInterval(timer);
      skeleton.hidden = true;
    }, 100);
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

  // Closes a tab that the app opened for a download, as browsers do: its frame stays empty.
  function closeAfterDownload() {
    try {
      if (isLedHere() && history.length === 1 && app.contentWindow.location.href === "about:blank") window.close();
    } catch {
      // An error page of the browser.
    }
  }

  // A page closes the tab that the app opened for it. In a frame, the browser ignores that.
  function letAppClose() {
    try {
      app.contentWindow.close = () => window.close();
    } catch {
      // A page of another origin, such as an error page of the browser.
    }
  }

  // The app gets the focus, so that its keyboard shortcuts work without a click.
  function onLoad() {
    if ([document.body, app].includes(document.activeElement)) app.focus();
    if (isOpenedByApp()) letAppClose();
    arrive();
    follow();
    show();
  }

  // True if the app was faster than this script.
  function hasLoaded() {
    try {
      const { document, location } = app.contentWindow;
      return location.href !== "about:blank" && document.readyState === "complete";
    } catch {
      return false;
    }
  }

  // The policy of this page allows only pages of the workshop's origin in the frame.
  document.addEventListener("securitypolicyviolation", ({ effectiveDirective, blockedURI }) => {
    if (effectiveDirective !== "frame-src" || !/^https?:/.test(blockedURI)) return;
    showOtherSite(target ?? blockedURI);
    leaving = app.contentDocument;
    isAstray = true;
    returnToApp();
  });
  part("other-site").querySelector("button").addEventListener("click", () => {
    part("other-site").hidden = true;
    app.focus();
  });

  app.addEventListener("load", onLoad);
  if (!location.hash) addEventListener("load", closeAfterDownload);
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) return;
    poll();
    listen();
  });
  addEventListener("online", poll);

  if (isUnframed()) return leave();
  registerWorker();
  passFragment();
  resume();
  showSkeleton();
  if (hasLoaded()) onLoad();
  openStream();
  setInterval(tick, 1000);
})();
