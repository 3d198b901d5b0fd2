### Texts of the admins' list of all instances, and of the bulk actions.

instances = Instanzen

instance = Instanz

template = Vorlage

every-template = Alle

state = Status

not-ended = Nicht beendet

everything-ended = Beendet

every-state = Alle

action = Aktion

no-instances = Keine Instanz entspricht dem Filter.

not-an-email = Das ist keine E-Mail-Adresse. Die Liste zeigt die Instanzen aller Personen.

more = Weitere

tick-all = Alle auswählen

bulk-form = Ausgewählte Instanzen

bulk-form-title = Ausgewählte Instanzen:

extend = Verlängern

bulk-end-title = Workshops beenden

bulk-end-now = Jetzt beenden

bulk-keep = Weiterlaufen lassen

back-to-list = Zurück zur Liste

bulk-results = Ergebnisse

result = Ergebnis

bulk-until = Läuft bis { $value }

not-done = Nicht ausgeführt:

try-again = Der Dienst kann gerade nicht antworten. Versuchen Sie es in einer Minute noch einmal.

nothing-ticked = Es wurde keine Instanz ausgewählt.

bulk-what = Das Formular enthält eine unbekannte Aktion.

sorted-by-template = Vorlage
sorted-by-owner = Person
sorted-by-state = Status
sorted-by-launch = Gestartet
sorted-by-end = Ende

tick = { $name } auswählen

bulk-end-question = { $count ->
    [one] 1 Workshop beenden?
   *[other] { $count } Workshops beenden?
}

bulk-ended = { $done } von { $all } beendet
bulk-ended-none = Beenden
bulk-extended = { $done } von { $all } verlängert
bulk-extended-none = Verlängern

bulk-too-many = Wählen Sie höchstens { $most } Instanzen auf einmal aus.
instance-search = Suche
instance-search-hint = Person, Vorlage oder Instanz
only-owner = Nur Instanzen von { $owner }.

instance-count = { $count ->
    [one] 1 Instanz
   *[other] { $count } Instanzen
}
instance-count-more = Mehr als { $limit } Instanzen
instance-count-newest = { $count } unter den neuesten { $limit } Instanzen
instance-search-newest = Die Suche umfasst nur die neuesten { $limit } Instanzen. Um ältere zu durchsuchen, wählen Sie eine Vorlage.

outdated-count = { $count ->
    [one] 1 Workshop läuft mit einer älteren Version von Sidecar oder Einstellungen.
   *[other] { $count } Workshops laufen mit einer älteren Version von Sidecar oder Einstellungen.
}
restart = Neu starten
restart-title = Workshops neu starten
restart-question = { $count ->
    [one] 1 Workshop neu starten?
   *[other] { $count } Workshops neu starten?
}
restart-warning = Nicht gespeicherte Arbeit in diesen Workshops geht verloren. Jeder Workshop startet neu, mit der aktuellen Version. Die Endzeiten ändern sich nicht.
restart-keeps-files = Die Dateien bleiben erhalten: Nach dem Neustart sind sie wieder da.
restart-deletes-files = Der Neustart löscht die Dateien in einem Workshop. Wem er gehört, kann sie vorher herunterladen.
restart-first = Diese Seite zeigt { $listed } von { $all } Workshops. Öffnen Sie sie später noch einmal, um die übrigen neu zu starten.
restart-now = Jetzt neu starten
restart-none = Kein Workshop läuft mit einer älteren Version.
bulk-restarted = { $done } von { $all } neu gestartet
bulk-restarted-none = Neu starten
restart-requested = Der Workshop startet neu.

files-of-some = { $count ->
    [one] 1 Workshop: { $files }
   *[other] { $count } Workshops: { $files }
}
