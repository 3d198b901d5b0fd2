// Texts of the pages that the student's journey reads, in two languages.

export const ENGLISH = {
  lang: "en",
  dir: "ltr",
  launch: "Launch",
  progress: "Progress of the start",
  ends: /^Ends: \d{4}-\d\d-\d\d \d\d:\d\d UTC$/,
  warning: /^This workshop ends in \S.* (minute|minutes|seconds)\. Save your work\.$/,
  saveWork: /Save your work!/,
  extend: /^Extend /,
  extendUntil: /^Extend until \d/,
  extended: "The workshop is extended.",
  close: "Close this window",
  home: "Home",
  why: "Why it ended",
  timeUp: "Its time was up",
  launchAgain: /^Launch again/,
  stopped: "No workshop here now",
  hasEnded: (name) => `“${name}” has ended.`,
};

export const ARABIC = {
  lang: "ar",
  dir: "rtl",
  launch: "تشغيل",
  progress: "تقدّم البدء",
  warning: /^تنتهي هذه الورشة خلال \S.*\. يُرجى حفظ العمل\.$/,
  extend: /^تمديد /,
  extendUntil: /^تمديد حتى /,
  extended: "تم تمديد الورشة.",
  close: "إغلاق هذه النافذة",
  home: "الرئيسية",
  why: "سبب الانتهاء",
  timeUp: "انتهى وقتها",
  launchAgain: /^تشغيل من جديد/,
  stopped: "لا توجد ورشة هنا الآن",
  // A name in a sentence from right to left is between invisible direction marks.
  hasEnded: (name) => `انتهت «\u2068${name}\u2069».`,
};

/** Words in Latin letters that a page in Arabic contains: names, and abbreviations without a translation. */
const NAMES = ["Workshop Launcher", "API", "QR", "UTC"];

/**
 * Returns the texts of a page that have words in Latin letters: visible texts, texts for screen readers, and the title.
 * Ignores the title of the app, texts that users wrote, names of languages, addresses and identifiers.
 */
export const untranslated = (page, appTitle) =>
  page.evaluate((names) => {
    const ignored = "script, style, noscript, template, code, bdi, iframe, [dir=auto], [dir=ltr], [lang]:not(html)";
    const texts = [document.title];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      if (!walker.currentNode.parentElement.closest(ignored)) texts.push(walker.currentNode.data);
    }
    for (const name of ["aria-label", "title", "placeholder", "alt"]) {
      for (const one of document.querySelectorAll(`[${name}]`)) {
        if (!one.closest(ignored)) texts.push(one.getAttribute(name));
      }
    }
    const withoutNames = (text) => names.reduce((rest, name) => rest.replaceAll(name, ""), text);
    const isForeign = (text) => /[a-z]{2}/i.test(withoutNames(text).replace(/\S+@\S+/g, ""));
    return texts.filter(isForeign).map((text) => text.trim());
  }, [...NAMES, appTitle]);
