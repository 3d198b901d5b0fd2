//! German texts.

use super::table::{NoticeText, Texts};

pub(super) const TEXTS: Texts = Texts {
    code: "de",
    direction: "ltr",
    workshop: "Workshop",
    bar: "Workshop Launcher",
    app: "App",
    left: "noch {left}",
    ends: "Ende: {time}",
    warning: "Dieser Workshop endet in {left}. Speichern Sie Ihre Arbeit.",
    over: "Dieser Workshop ist beendet.",
    signed_out: "Sie sind abgemeldet. Laden Sie diese Seite neu, um sich wieder anzumelden.",
    crashed: "Die App ist abgestürzt und wurde neu gestartet. Gespeicherte Dateien sind noch da. Laden Sie diese Seite neu.",
    out_of_memory: "Der Speicher der App war voll, und sie wurde neu gestartet. Gespeicherte Dateien sind noch da. Laden Sie diese Seite neu.",
    files_lost: "Die App ist abgestürzt und wurde neu gestartet. Dateien, die Sie nicht anderswo gespeichert haben, sind verloren. Laden Sie diese Seite neu.",
    extend: "Verlängern",
    extend_hint: "der Zeit dieses Workshops (in einem kleinen Fenster)",
    home: "Übersicht",
    launcher: "Zurück zum Workshop Launcher",
    not_yours: NoticeText {
        title: "Nicht Ihr Workshop",
        text: "Sie haben unter dieser Adresse keinen Workshop. Er ist vielleicht beendet oder gehört einer anderen \
               Person. Wenn Sie ihn gestartet haben, melden Sie sich mit demselben Konto an.",
    },
    not_signed_in: NoticeText {
        title: "Nicht angemeldet",
        text: "Die Anfrage enthält keine Identität. Öffnen Sie den Workshop über den Workshop Launcher, und melden Sie sich \
               dort an.",
    },
    unknown: NoticeText {
        title: "Kein solcher Workshop",
        text: "Unter dieser Adresse gibt es keinen Workshop. Er ist vielleicht beendet.",
    },
    starting: NoticeText {
        title: "Der Workshop startet",
        text: "Der Workshop antwortet noch nicht. Diese Seite lädt alle 2 Sekunden neu, bis er antwortet.",
    },
    no_answer: NoticeText {
        title: "Der Workshop antwortet nicht",
        text: "Die Verbindung zur App ist abgebrochen, oder die App hat eine ungültige Antwort gesendet. Laden Sie \
               diese Seite neu.",
    },
    failed: NoticeText { title: "Ihr Workshop ist fehlgeschlagen", text: "Die Ursache ist unbekannt." },
    terminated: NoticeText { title: "Ihr Workshop ist beendet", text: "Er wurde vor Ablauf seiner Zeit beendet." },
    expired: NoticeText { title: "Ihr Workshop ist beendet", text: "Seine Zeit ist abgelaufen." },
};
