### Texts of the waiting page.

steps = Schritte des Starts

step-done = erledigt

step-current = läuft gerade

opens-by-itself = Diese Seite öffnet den Workshop, sobald er bereit ist.

is-ready = Der Workshop ist bereit und wird jetzt geöffnet.

cancel = Abbrechen

start-log = Startprotokoll

start-step-queue = In der Warteschlange warten
start-step-prepare = Platz finden und Workshop vorbereiten
start-step-image = Image herunterladen, falls nötig
start-step-downloads = Kursmaterial und, falls nötig, Image herunterladen
start-step-app = App starten

wait-queue = { $before ->
    [0] Sie sind als Nächstes dran.
    [one] 1 Person ist vor Ihnen.
   *[other] { $before } Personen sind vor Ihnen.
}
wait-queue-about = { $before ->
    [0] Sie sind als Nächstes dran. Bereit in etwa { $time }.
    [one] 1 Person ist vor Ihnen. Bereit in etwa { $time }.
   *[other] { $before } Personen sind vor Ihnen. Bereit in etwa { $time }.
}
wait-room = { $before ->
    [0] Alle Plätze sind belegt. Ihr Workshop startet, sobald einer frei ist.
    [one] Alle Plätze sind belegt. 1 Person ist vor Ihnen.
   *[other] Alle Plätze sind belegt. { $before } Personen sind vor Ihnen.
}
wait-about = Bereit in etwa { $time }.
wait-longer = Es dauert länger als sonst.
wait-starting = Ihr Workshop startet.

wait-progress = Fortschritt des Starts

wait-details = Details

doing-waiting-for-quota = Wartet, bis ein anderer Workshop des Kurses endet.
doing-waiting-for-room = Wartet auf einen freien Platz.
doing-preparing = Ihr Workshop wird vorbereitet.
doing-pulling-image = Die Software wird geholt. Beim ersten Mal dauert es länger.
doing-loading-material = Die Kursdateien werden geholt.
doing-starting-app = Die App wird gestartet.
doing-restarting-app = Die App wurde beendet und startet neu.

start-step-material = Kursmaterial herunterladen

material-trouble-failed = Die Kursdateien wurden nicht geladen
material-trouble-conflicts = Sie und Ihre Lehrperson haben dieselben Dateien geändert

open-anyway = Trotzdem öffnen

material-try-again = Erneut versuchen

material-try-again-about = „Erneut versuchen“ beendet diesen Workshop und startet ihn neu. { $files }
