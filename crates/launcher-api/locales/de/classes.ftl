classes = Kurse
all-classes = Alle Kurse
no-classes = Sie haben keine Kurse.
my-classes = Meine Kurse
archived = Archiviert
new-class = Neuer Kurs
class-name = Name des Kurses
class-teachers = Lehrpersonen
class-teachers-hint = Adressen, eine pro Zeile. Leer: Sie selbst.
create-class = Kurs anlegen
classes-unreadable = Zeile { $line }: „{ $entry }“ ist keine E-Mail-Adresse.
class-catalog = Workshops dieses Kurses
class-no-templates = Dieser Kurs hat noch keine Workshops.
role = Rolle
class-ends = Ende
role-none = Kein Mitglied
role-student = Teilnehmer
role-assistant = Assistenz
role-teacher = Lehrperson
members = Mitglieder
members-table = Mitglieder mit ihren Workshops
member = Mitglied
add-members = Mitglieder hinzufügen
add-members-hint = Fügen Sie Adressen ein, oder eine Tabelle mit Kopfzeile, wie Ihr Kurssystem sie exportiert. Sie sehen alle Änderungen, bevor sie gelten.
remove-member = Entfernen
remove-member-question = { $email } aus dem Kurs entfernen?
remove-member-warning = Die Workshops dieser Person im Kurs enden. Ihre gespeicherte Arbeit gehört ihr weiterhin.
end-of-member-question = Workshop { $name } beenden?
end-of-member-warning = Ungespeicherte Arbeit geht verloren.
standing-failed = Fehlgeschlagen
standing-trouble = Problem mit dem Kursmaterial
standing-absent = Nicht da
standing-joined = War da
standing-left-at = War da bis { $value }
last-use-at = · zuletzt benutzt { $value }
standing-starting = Startet
standing-paused = Pausiert
standing-ready = Bereit
class-settings = Einstellungen des Kurses
class-save = Speichern
class-changed-meanwhile = Der Kurs wurde inzwischen geändert. Öffnen Sie diese Seite noch einmal, und wiederholen Sie Ihre Änderungen.
class-field-name = Name
    .hint = Eine Zeile.
class-field-description = Beschreibung
    .hint = Mitglieder und Personen mit dem Beitrittslink sehen sie. Markdown.
class-field-starts-on = Erster Tag
    .hint = Leer: Der Start ist sofort möglich.
class-field-ends-on = Letzter Tag
    .hint = Leer: ohne Ende.
class-field-max-workshops = Workshops des Kurses gleichzeitig
    .hint = Leer: nur die Grenzen dieses Launchers. Nur Admins erhöhen den Wert.
class-field-max-workshops-per-member = Workshops einer Person gleichzeitig
    .hint = Leer: nur die Grenzen dieses Launchers. Nur Admins erhöhen den Wert.
class-field-queue-weight = Gewicht in der Warteschlange
    .hint = 1 bis 10. Bei doppeltem Gewicht starten doppelt so viele Workshops des Kurses gleichzeitig.
class-field-namespace = Kubernetes-Namespace
    .hint = Einer, den die Verwaltung für Kurse eingerichtet hat. Eine Änderung gilt für spätere Starts; gespeicherte Dateien bleiben, wo sie sind.
class-field-namespace-default = der aller anderen Workshops
class-field-slug = Name in Adressen
    .hint = Links mit dem früheren Namen führen nicht mehr hierher.
class-field-archived = Der Kurs ist beendet
    .hint = Studierende können nichts mehr starten. Laufende Workshops laufen weiter.
board-search = Name oder Adresse
board-standing = Zustand der Mitglieder
board-all-standings = Alle Zustände
board-none-found = Kein Mitglied passt.
class-actions = Alle Workshops des Kurses
all-launch-title = Für alle starten
all-launch-question = { $count ->
    [one] Einen Workshop für den Teilnehmer des Kurses starten?
   *[other] Für jeden der { $count } Teilnehmer einen Workshop starten?
}
all-launch-warning = Wer schon einen Workshop dieser Vorlage hat, behält ihn. Die anderen bekommen einen und finden ihn auf ihrer Startseite.
all-launch-template = Vorlage
all-launch-result = Start für alle Teilnehmer
all-launch-done = Gestartet
all-launch-unchanged = Hat schon einen
all-extend-title = Alle verlängern
all-extend-question = { $count ->
    [one] Den Workshop des Kurses verlängern, der bereit ist?
   *[other] Die { $count } Workshops des Kurses verlängern, die bereit sind?
}
all-extend-warning = Jeder läuft höchstens bis zu seiner maximalen Laufzeit. Kein Workshop endet früher.
all-pause-title = Alle pausieren
all-pause-question = { $count ->
    [one] Den Workshop des Kurses pausieren, der bereit ist?
   *[other] Die { $count } Workshops des Kurses pausieren, die bereit sind?
}
all-pause-warning = Ihre Programme stoppen. Ihre gespeicherten Dateien bleiben, und jede Person kann ihren Workshop fortsetzen. Workshops, die keine Dateien behalten, laufen weiter.
all-pause-result = Pause aller Workshops
all-pause-done = Pausiert
all-end-title = Alle beenden
all-end-question = { $count ->
    [one] Den Workshop des Kurses beenden?
   *[other] Alle { $count } Workshops des Kurses beenden?
}
all-end-warning = Ungespeicherte Arbeit geht verloren. Gespeicherte Dateien gehören weiterhin den Teilnehmern.
all-end-result = Ende aller Workshops
all-end-done = Beendet
all-end-unchanged = War schon am Enden
all-count-refused = Nicht ausgeführt
all-nothing = Es gab nichts zu tun.
all-needs-values = Der Start dieser Vorlage fragt nach Werten, die nur der Teilnehmer kennt. Geben Sie jedem Wert in der Vorlage eine Vorgabe, oder teilen Sie den Link der Vorlage.
other-limit = Hat { $limit } Workshops, mehr sind nicht erlaubt
other-class-limit = Hat { $limit } Workshops in diesem Kurs, mehr sind nicht erlaubt
all-class-limit = Der Kurs hat { $limit } Workshops, mehr sind nicht erlaubt
other-too-many-launches = Hat in kurzer Zeit zu oft gestartet
other-volume-in-use = Ein anderer Workshop dieser Person benutzt die gespeicherten Dateien
other-storage = Hat { $gib } GiB gespeicherte Arbeit, mehr ist nicht erlaubt
projector = Ansicht für den Beamer
attendance = Anwesenheit herunterladen
class-manage = Kurs verwalten
class-state-not-begun = Noch nicht begonnen
class-state-over = Beendet
class-member-states = Mitglieder nach Status
all-none = Es gibt nichts zu tun.
guide-class = Ihr Kurs in zehn Schritten
guide-code = Beispiel: der Code für den Beamer.
guide-board = Beispiel: die Seite des Kurses.
guide-hand = Beispiel: eine gehobene Hand und eine Nachricht an alle.
guide-message = Übung 2 beginnt jetzt.
