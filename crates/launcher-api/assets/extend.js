// Adds local times to the page that extends a workshop, and reports the expiry to the bar that opened the page.
(() => {
  "use strict";

  // The browser's own locale if it is of the page's language, because it knows the reader's region.
  const language = document.documentElement.lang;
  const locale = navigator.languages.find((one) => one.split("-")[0] === language) ?? language;
  const full = new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "short" });
  const hours = new Intl.DateTimeFormat(locale, { timeStyle: "short" });
  const today = new Date().toDateString();
  document.querySelectorAll("time[data-local]").forEach((time) => {
    const date = new Date(time.dateTime);
    if (Number.isNaN(date.getTime())) return;
    time.textContent = (date.toDateString() === today ? hours : full).format(date);
  });

  // Only the origin of the workshop receives the message.
  const { workshopOrigin, expiresAt } = document.querySelector("[data-workshop-origin]").dataset;
  if (window.opener && workshopOrigin && expiresAt) {
    window.opener.postMessage({ type: "workshop-expiry", expires_at: expiresAt }, workshopOrigin);
  }

  const form = document.querySelector("form");
  const close = document.querySelector("[data-close]");
  if (window.opener) {
    close.hidden = false;
    close.addEventListener("click", () => window.close());
    if (!form) close.focus();
  }

  // The app can open this window while its user types or clicks. Such a key press or click must not extend: the button
  // works a moment after the window appears or is shown again.
  const GUARD = 700;
  let timer;
  function guard() {
    const button = form?.querySelector("button");
    if (!button) return;
    button.disabled = true;
    clearTimeout(timer);
    timer = setTimeout(() => (button.disabled = false), GUARD);
  }
  guard();
  document.addEventListener("visibilitychange", guard);

  // A double click extends only once.
  let isSent = false;
  form?.addEventListener("submit", (event) => {
    if (isSent) event.preventDefault();
    isSent = true;
  });
})();
