### Texts of the admins' overview.

overview-as-of = Actualizado: { $value }

overview-instances-now = Instancias en este momento

overview-last-day = Últimas 24 horas

overview-day-ago = hace 24 h

overview-now = ahora

overview-launches = Inicios

overview-key-launched = iniciados

overview-key-failed = fallidos

overview-in-use = En uso

overview-launch-to-ready = Tiempo hasta estar listo

overview-key-p50 = la mitad de los inicios

overview-key-p95 = 19 de cada 20 inicios

overview-by-template = Por plantilla

overview-failures = Fallidos

overview-ready-now = Listos ahora

overview-p50-ready = La mitad, listos en

overview-p95-ready = 19 de cada 20, listos en

overview-by-hour = Hora por hora

overview-hour-from = Desde

overview-in-use-at-end = En uso al final

overview-nothing-launched = Ningún inicio en las últimas 24 horas.

overview-hours-hint = Un inicio fallido cuenta en la hora en que se inició el taller. La columna “En uso al final” cuenta los talleres que estaban listos o finalizando. Omite los talleres que fallaron después.

overview-none = –

overview-seconds = { $seconds } s
overview-minutes = { $minutes } min
overview-minutes-seconds = { $minutes } min { $seconds } s
overview-hours = { $hours } h
overview-hours-minutes = { $hours } h { $minutes } min

overview-none-failed = ninguno fallido
overview-failed = { $failures ->
    [one] { $failures } fallido ({ $percent } %)
   *[other] { $failures } fallidos ({ $percent } %)
}
overview-failed-few = { $failures ->
    [one] { $failures } fallido (menos del 1 %)
   *[other] { $failures } fallidos (menos del 1 %)
}

overview-use-note = ahora, máximo { $most }

overview-ready-note = en la mitad de los inicios; { $p95 } en 19 de cada 20
overview-not-ready-yet = todavía ningún taller ha estado listo

overview-launches-summary = Inicios en cada una de las últimas 24 horas: { $launches } en total, { $note }.
overview-launches-peak = Máximo en una hora: { $most }, { $when }.
overview-use-summary = Talleres en uso al final de cada una de las últimas 24 horas: { $now } ahora.
overview-use-peak = Máximo: { $most }, { $when }.
overview-ready-summary = Tiempo hasta estar listo en cada una de las últimas 24 horas: la mitad de los inicios en { $p50 }, 19 de cada 20 en { $p95 }.
overview-ready-peak = Hora más lenta: 19 de cada 20 inicios en { $most }, { $when }.
overview-never-ready = Ningún taller llegó a estar listo en las últimas 24 horas.
overview-when = { $hours ->
    [0] en la última hora
    [one] hace 1 hora
   *[other] hace { $hours } horas
}
overview-decimal-point = ,
