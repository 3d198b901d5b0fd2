// The hand of the owner and the messages of the class in the bar. The launcher answers below a reserved path of this origin. The
// app shares the origin, so it can read the same news, and raise and lower the hand of its own user.
(() => {
  "use strict";

  // Interval between two requests for the news without an event stream, in milliseconds.
  const POLL = 5_000;
  // Time until a stream counts as broken, in milliseconds: without a first event, and without a further one. The launcher
  // sends an event at least every 15 seconds. A proxy in front may hold events back.
  const FIRST_EVENT = 5_000;
  const SILENCE = 40_000;
  // Time until the next stream after one that sent no event, in milliseconds.
  const RETRY = 60_000;
  // Minimum time between two reports that the owner uses the app, in milliseconds.
  const USE = 60_000;
  // Key of the time of the last message that the owner dismissed.
  const DISMISSED = "launcher-dismissed-message";

  const part = (name) => document.getElementById(name);
  const said = part("class").dataset;
  let stream = null;
  let hasEvents = false;
  let heardAt = 0;
  let streamAt = 0;
  let polledAt = 0;
  // True without a class: the owner has left it, or the proxy in front does not lead its paths to the launcher.
  let isGone = false;
  let isRaised = false;
  let sentAt = null;
  let usedAt = 0;
  let reportedAt = 0;

  const setText = (element, text) => {
    if (element.textContent !== text) element.textContent = text;
  };

  // Without storage, as in private windows of some browsers, a message is dismissed until the page is loaded again.
  let lastDismissed = null;
  function dismissed() {
    try {
      return localStorage.getItem(DISMISSED) ?? lastDismissed;
    } catch {
      return lastDismissed;
    }
  }

  function showMessage(message) {
    sentAt = message?.sent_at ?? null;
    const isShown = message && dismissed() !== sentAt;
    // The text changes while its element is shown: only then a screen reader announces it.
    part("message").hidden = !isShown;
    setText(part("message-text"), isShown ? message.text : "");
  }

  function showHand(hand) {
    isRaised = Boolean(hand);
    setText(part("hand"), isRaised ? said.lower : said.raise);
    const helper = hand?.taken_by;
    setText(part("help"), helper ? said.comes.replace("{who}", () => helper) : isRaised ? said.raised : "");
  }

  function show(news) {
    part("class").hidden = false;
    part("hand").hidden = !news.may_raise;
    showHand(news.hand);
    showMessage(news.message);
  }

  function closeStream() {
    stream?.close();
    stream = null;
    streamAt = Date.now() + (hasEvents ? POLL : RETRY);
  }

  function end() {
    isGone = true;
    closeStream();
    part("class").hidden = true;
    showMessage(null);
  }

  async function poll() {
    polledAt = Date.now();
    try {
      const answer = await fetch(`${said.path}news`, { redirect: "manual", cache: "no-store" });
      if (answer.ok) show(await answer.json());
      else if (answer.status === 404) end();
    } catch {
      // The launcher is unreachable: the next request may succeed.
    }
  }

  function openStream() {
    hasEvents = false;
    heardAt = Date.now();
    stream = new EventSource(`${said.path}events`);
    stream.addEventListener("news", (event) => {
      hasEvents = true;
      heardAt = Date.now();
      show(JSON.parse(event.data));
    });
    stream.addEventListener("error", () => {
      closeStream();
      poll();
    });
  }

  // Opens and closes the stream. A hidden page has none: without HTTP/2, a browser has few connections.
  function listen() {
    if (isGone) return;
    const isSilent = Date.now() - heardAt > (hasEvents ? SILENCE : FIRST_EVENT);
    if (stream && (document.hidden || isSilent)) closeStream();
    if (document.hidden) return;
    if (!(stream && hasEvents) && Date.now() - polledAt >= POLL) poll();
    if (!stream && !isGone && Date.now() >= streamAt) openStream();
  }

  // Reports the use of the app for the board of the class. Keys and clicks in the app's frame activate this page, too. Requests of
  // the app are no use: many apps send them without the user.
  function reportUse() {
    if (navigator.userActivation?.isActive) usedAt = Date.now();
    if (isGone || usedAt <= reportedAt || Date.now() - reportedAt < USE) return;
    reportedAt = Date.now();
    // A lost report is repeated with the next use.
    fetch(`${said.path}use`, { method: "PUT", redirect: "manual" }).catch(() => {});
  }

  part("hand").addEventListener("click", async () => {
    try {
      const answer = await fetch(`${said.path}hand`, { method: isRaised ? "DELETE" : "PUT", redirect: "manual" });
      if (!answer.ok && answer.status !== 404) throw answer;
      await poll();
    } catch {
      setText(part("help"), said.failed);
    }
  });

  part("dismiss").addEventListener("click", () => {
    lastDismissed = sentAt;
    try {
      localStorage.setItem(DISMISSED, sentAt);
    } catch {
      // See above.
    }
    part("message").hidden = true;
    const hand = part("hand");
    (hand.offsetParent ? hand : part("app")).focus();
  });

  document.addEventListener("visibilitychange", () => {
    streamAt = 0;
    listen();
  });
  listen();
  setInterval(() => {
    listen();
    reportUse();
  }, 1_000);
})();
