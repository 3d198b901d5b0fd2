### Texts of the start page, the pages of a workshop and of a template, and the history.

my-workshops = Meine Workshops

no-workshops = Sie haben keine Workshops. Starten Sie unten einen.

has-ended = „{ $name }“ ist beendet.

only-the-newest = Diese Liste zeigt nur Ihre neuesten Workshops.

show-all-mine = Alle meine Workshops anzeigen

files-of-paused = Ein pausierter Workshop hat Ihre gespeicherten Dateien. Setzen Sie ihn fort, um weiterzuarbeiten, oder beenden Sie ihn.

waits-for = seit { $value }

ends-in = Läuft noch { $value }

ends-warning = Speichern Sie Ihre Arbeit!

open = Öffnen

more-actions = Weitere Aktionen: { $name }

details = Einzelheiten

keeps-files = behält Dateien

extend-until = Verlängern bis { $value }

end = Beenden

pause = Pausieren

confirm-pause = Diesen Workshop pausieren? Seine Programme werden beendet. Die Dateien, die Sie gespeichert haben, sind wieder da, wenn Sie ihn fortsetzen.

resume = Fortsetzen

paused-since = seit { $value }

launch-again = Erneut starten

parameter-optional = { $label } (optional)

parameter-choose = Auswählen…

parameter-secret = (geheim)

parameter-secret-hint = Dieser Wert wird nicht wieder angezeigt.

parameter-secret-help = { $help } Dieser Wert wird nicht wieder angezeigt.

parameters-wrong = Es wurde nichts gestartet. Korrigieren Sie diese Felder:

parameters-ignored = Der Link hat Werte, die er nicht ausfüllen kann. Füllen Sie diese Felder selbst aus, wenn das Formular sie hat: { $names }

dismiss = Entfernen

last-output = Letzte Zeilen der Ausgabe

crash-crashed = Die App wurde unerwartet beendet und um { $value } neu gestartet.

crash-out-of-memory = Der App ging der Arbeitsspeicher aus. Sie wurde um { $value } neu gestartet.
crash-moved = Der Server des Workshops wurde um { $value } angehalten. Der Workshop wurde neu gestartet.

crash-files-kept = Gespeicherte Dateien sind noch da.

crash-files-lost = Dateien, die Sie nicht anderswo gespeichert haben, sind verloren.

crash-advice-crashed = Falls es wieder passiert, sagen Sie Ihrer Lehrperson, was Sie davor getan haben.

crash-advice-out-of-memory = Laden Sie weniger Daten auf einmal oder bitten Sie um eine Vorlage mit mehr Arbeitsspeicher.
crash-advice-moved = Öffnen Sie Ihre Dateien erneut. Laufende Programme wurden beendet.

material = Kursmaterial

material-placed = { $target }: geladen

material-updated = { $target }: aktualisiert

material-unchanged = { $target }: aktuell

material-failed = { $target }: nicht geladen

material-not-loaded = Das Kursmaterial für den Ordner { $target } konnte nicht geladen werden.

material-not-loaded-advice = Der Workshop ist trotzdem gestartet. Wenn er Ihre Dateien behält, hat der Ordner die Dateien Ihres letzten Starts. Sagen Sie es Ihrer Lehrperson oder starten Sie den Workshop später noch einmal.

material-conflicts = { $count ->
    [one] Sie und Ihre Lehrperson haben beide eine Datei im Ordner { $target } geändert.
   *[other] Sie und Ihre Lehrperson haben beide { $count } Dateien im Ordner { $target } geändert.
}

material-conflicts-advice = Ihre Dateien sind unverändert. Die Dateien Ihrer Lehrperson liegen daneben, unter einem anderen Namen.

catalog = Workshop starten

shared-catalog = { $count ->
    [one] Ein weiterer Workshop
   *[other] { $count } weitere Workshops
}

search-catalog = Katalog durchsuchen

search-hint = Suche

search = Suchen

no-templates = Es gibt noch keine Workshops zum Starten.

create-first = Erste Vorlage erstellen

nothing-found = Kein Workshop passt zu Ihrer Suche.

launch = Starten

have-one-short = Bereits gestartet

have-one = Sie haben diesen Workshop bereits:

repository-added = Der Workshop erhält die Dateien dieses Repositorys:

repository-reference = Branch, Tag oder Commit:

repository-folder = Nur der Ordner:

repository-refused = Der Link nennt ein Repository, das nicht verwendet werden kann: { $wrong }.

last-one-failed = Ihr letzter Workshop mit dieser Vorlage ist fehlgeschlagen.

show-it = Anzeigen

launch-another = Weiteren starten

edit-template = Vorlage bearbeiten

all-workshops = Alle Workshops

instance-name = Name

owner = Person

app = App

launched-at = Gestartet

ready-since = Bereit seit

latest-end = Verlängerbar bis

ended-at = Beendet

lasted = Dauer

why-ended = Grund

belongs-to = Er gehört { $value }.

end-workshop = Workshop beenden

keep-it = Weiterlaufen lassen

pause-title = { $name } pausieren

pause-question = „{ $name }“ pausieren?

pause-warning = Alle Programme im Workshop werden beendet, und nicht gespeicherte Arbeit geht verloren. Die Dateien, die Sie gespeichert haben, sind wieder da, wenn Sie den Workshop fortsetzen. Sie können ihn jederzeit fortsetzen.

pause-workshop = Workshop pausieren

pause-cancel = Weiterlaufen lassen

ended-workshops = Beendete Workshops

workshop = Workshop

no-history = Bisher ist keiner Ihrer Workshops beendet.

saved-work = Gespeicherte Arbeit

saved-work-all = Gespeicherte Arbeit aller Personen

saved-work-about = Manche Workshops behalten ihre Dateien. Beim nächsten Start eines solchen Workshops sind sie wieder da.

snapshots-about = Manche Workshops speichern ihre Dateien am Ende hier, für { $time }. Die Seite eines Workshops sagt, ob seine Dateien gespeichert werden.

no-saved-work = Es gibt noch keine gespeicherte Arbeit.

saved-work-shared = Von mehreren Workshops geteilt

saved-work-size = Platz

saved-work-last-used = Zuletzt benutzt

saved-work-deleted-after = Wird gelöscht, wenn unbenutzt bis

saved-work-in-use = In Benutzung

snapshot-size = Größe

snapshot-saved-at = Gespeichert

snapshot-deleted-on = Wird gelöscht am

saved-work-delete = Löschen

saved-work-download = Herunterladen

saved-work-question = Gespeicherte Arbeit von „{ $name }“ löschen?

saved-work-warning = Alle Dateien werden gelöscht. Niemand kann sie wiederherstellen. Der nächste Start beginnt ohne Dateien.

snapshot-warning = Alle Dateien werden gelöscht. Niemand kann sie wiederherstellen.

saved-work-delete-now = Alle Dateien löschen

saved-work-keep = Dateien behalten

snapshot-pending = Ihre Dateien werden gespeichert, bevor der Workshop endet.

snapshot-saved = Ihre Dateien sind gespeichert.

snapshot-saved-until = Ihre Dateien sind bis { $value } gespeichert.

snapshot-deleted = Die gespeicherten Dateien dieses Workshops wurden gelöscht.

snapshot-failed = Ihre Dateien konnten nicht gespeichert werden. { $reason }

snapshot-failure-time-limit = Sie wurden nicht rechtzeitig gespeichert.
snapshot-failure-too-large = Sie sind größer als 2 GiB.
snapshot-failure-limit-reached = Es sind schon die Dateien von 20 Workshops gespeichert. Löschen Sie zuerst einige davon.
snapshot-failure-files-unavailable = Der Dienst konnte sie nicht lesen.
snapshot-failure-store-unavailable = Der Dienst konnte sie nicht ablegen.
snapshot-failure-workshop-gone = Der Workshop war schon beendet.

in-new-tab = { $name } (in neuem Tab)

show-all = Alle { $offered } anzeigen

found = { $found } von { $offered } gefunden

lasts = Läuft { $lifetime }
lasts-extensible = Läuft { $lifetime }, verlängerbar auf { $longest }

end-title = { $name } beenden

end-question = „{ $name }“ beenden?

outdated = Dieser Workshop läuft mit einer älteren Version von Sidecar oder Einstellungen.
outdated-restart = Veraltete Workshops neu starten

files-are-deleted = Die Dateien in einem Workshop werden gelöscht, sobald er endet. Laden Sie herunter, was Sie behalten möchten.
files-are-kept = Die Dateien bleiben erhalten, wenn der Workshop endet: Beim nächsten Start sind sie wieder da.
files-are-kept-for = Die Dateien bleiben erhalten, wenn der Workshop endet: Beim nächsten Start sind sie wieder da. Ohne Nutzung werden sie nach { $time } gelöscht.
files-are-saved = Die Dateien werden für { $time } gespeichert, wenn der Workshop endet.
files-none-yet = Der Workshop hat noch keine Dateien.

saves-files = speichert Dateien für { $time }
deletes-files = löscht Dateien am Ende

confirm-end = Diesen Workshop beenden? { $files }

end-warning = Der Workshop wird beendet. { $files }

material-short-failed = Nicht geladen
material-short-conflicts = Konflikte

failure-report =
    { $template } ({ $workshop })
    Gestartet: { $time }
    { $failure }
    { $line }

copy-report = Für meine Lehrperson kopieren

copied-report = Kopiert

launch-with-files = Mit diesen Dateien starten
files-launch-note = Der Workshop beginnt mit Ihren gespeicherten Dateien:
saved-work-download-zip = Als .zip herunterladen
