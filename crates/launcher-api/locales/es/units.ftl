### Durations and times.

days = { $count ->
    [one] 1 día
   *[other] { $count } días
}
hours = { $count ->
    [one] 1 hora
   *[other] { $count } horas
}
minutes = { $count ->
    [one] 1 minuto
   *[other] { $count } minutos
}
seconds = { $count ->
    [one] 1 segundo
   *[other] { $count } segundos
}

date-and-time-format = %d/%m/%Y, %H:%M UTC
time-of-day-format = %H:%M UTC
duration-joined = { $first } { $second }

thousands-separator = { "\u00A0" }

size-kilobytes = { $count }{ "\u00A0" }kB
size-megabytes = { $count }{ "\u00A0" }MB
