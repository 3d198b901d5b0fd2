### Durations and times.

days = { $count ->
    [one] { $count } jour
   *[other] { $count } jours
}
hours = { $count ->
    [one] { $count } heure
   *[other] { $count } heures
}
minutes = { $count ->
    [one] { $count } minute
   *[other] { $count } minutes
}
seconds = { $count ->
    [one] { $count } seconde
   *[other] { $count } secondes
}

date-and-time-format = %d/%m/%Y %H:%M UTC
time-of-day-format = %H:%M UTC
duration-joined = { $first } { $second }

thousands-separator = { "\u00A0" }

size-kilobytes = { $count }{ "\u00A0" }ko
size-megabytes = { $count }{ "\u00A0" }Mo
