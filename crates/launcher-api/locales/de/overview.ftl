### Texts of the admins' overview.

overview-as-of = Stand: { $value }

overview-instances-now = Aktuelle Instanzen

overview-last-day = Letzte 24 Stunden

overview-day-ago = vor 24 h

overview-now = jetzt

overview-launches = Starts

overview-key-launched = gestartet

overview-key-failed = fehlgeschlagen

overview-in-use = In Nutzung

overview-launch-to-ready = Startdauer

overview-key-p50 = die Hälfte der Starts

overview-key-p95 = 19 von 20 Starts

overview-by-template = Nach Vorlage

overview-failures = Fehlgeschlagen

overview-ready-now = Jetzt bereit

overview-p50-ready = Hälfte bereit nach

overview-p95-ready = 19 von 20 bereit nach

overview-by-hour = Nach Stunde

overview-hour-from = Stunde ab

overview-in-use-at-end = Am Ende in Nutzung

overview-nothing-launched = Keine Starts in den letzten 24 Stunden.

overview-hours-hint = Ein fehlgeschlagener Start zählt zu der Stunde, in der er begann. Die Spalte „Am Ende in Nutzung“ zählt Workshops, die bereit waren oder gerade beendet wurden. Sie lässt Workshops weg, die später fehlschlugen.

overview-none = –

overview-seconds = { $seconds } s
overview-minutes = { $minutes } min
overview-minutes-seconds = { $minutes } min { $seconds } s
overview-hours = { $hours } h
overview-hours-minutes = { $hours } h { $minutes } min

overview-none-failed = keiner fehlgeschlagen
overview-failed = { $failures } fehlgeschlagen ({ $percent } %)
overview-failed-few = { $failures } fehlgeschlagen (weniger als 1 %)

overview-use-note = jetzt, Maximum { $most }

overview-ready-note = bei der Hälfte der Starts; { $p95 } bei 19 von 20
overview-not-ready-yet = bisher war kein Workshop bereit

overview-launches-summary = Starts in jeder der letzten 24 Stunden: insgesamt { $launches }, { $note }.
overview-launches-peak = Maximum in einer Stunde: { $most }, { $when }.
overview-use-summary = Workshops in Nutzung am Ende jeder der letzten 24 Stunden: jetzt { $now }.
overview-use-peak = Maximum: { $most }, { $when }.
overview-ready-summary = Startdauer in jeder der letzten 24 Stunden: die Hälfte der Starts in { $p50 }, 19 von 20 in { $p95 }.
overview-ready-peak = Langsamste Stunde: 19 von 20 Starts in { $most }, { $when }.
overview-never-ready = In den letzten 24 Stunden wurde kein Workshop bereit.
overview-when = { $hours ->
    [0] in der letzten Stunde
    [one] vor 1 Stunde
   *[other] vor { $hours } Stunden
}
overview-decimal-point = ,
