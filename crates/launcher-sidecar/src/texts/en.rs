//! English texts.

use super::table::{NoticeText, Texts};

pub(super) const TEXTS: Texts = Texts {
    code: "en",
    direction: "ltr",
    workshop: "Workshop",
    bar: "Workshop launcher",
    app: "App",
    left: "{left} left",
    ends: "Ends: {time}",
    warning: "This workshop ends in {left}. Save your work.",
    over: "This workshop has ended.",
    signed_out: "You are signed out. Reload this page to sign in again.",
    crashed: "The app crashed and was started again. Saved files are still there. Reload this page.",
    out_of_memory: "The app ran out of memory and was started again. Saved files are still there. Reload this page.",
    files_lost: "The app crashed and was started again. Files that were not saved elsewhere are lost. Reload this page.",
    extend: "Extend",
    extend_hint: "the time of this workshop (in a small window)",
    home: "Home",
    launcher: "Back to the launcher",
    not_yours: NoticeText {
        title: "Not your workshop",
        text: "You have no workshop at this address. It may have ended, or belong to another user. If you launched it, \
               sign in with the same account.",
    },
    not_signed_in: NoticeText {
        title: "Not signed in",
        text: "The request carries no identity. Open the workshop from the launcher, and sign in there.",
    },
    unknown: NoticeText { title: "No such workshop", text: "There is no workshop at this address. It may have ended." },
    starting: NoticeText {
        title: "The workshop is starting",
        text: "The workshop does not answer yet. This page reloads every 2 seconds until it does.",
    },
    no_answer: NoticeText {
        title: "The workshop does not answer",
        text: "The connection to the app was lost, or the app sent an invalid response. Reload this page.",
    },
    failed: NoticeText { title: "Your workshop has failed", text: "The cause is unknown." },
    terminated: NoticeText { title: "Your workshop has ended", text: "It was ended before its time was up." },
    expired: NoticeText { title: "Your workshop has ended", text: "Its time was up." },
};
