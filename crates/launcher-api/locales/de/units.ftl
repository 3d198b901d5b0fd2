### Durations and times.

days = { $count ->
    [one] 1 Tag
   *[other] { $count } Tage
}
hours = { $count ->
    [one] 1 Stunde
   *[other] { $count } Stunden
}
minutes = { $count ->
    [one] 1 Minute
   *[other] { $count } Minuten
}
seconds = { $count ->
    [one] 1 Sekunde
   *[other] { $count } Sekunden
}

date-and-time-format = %d.%m.%Y, %H:%M UTC
time-of-day-format = %H:%M UTC
duration-joined = { $first } { $second }

thousands-separator = .

size-kilobytes = { $count } kB
size-megabytes = { $count } MB
