### Texts of the admins' list of all instances, and of the bulk actions.

instances = Instancias

instance = Instancia

template = Plantilla

every-template = Todas

state = Estado

not-ended = Sin finalizar

everything-ended = Finalizado

every-state = Todos

action = Acción

no-instances = Ninguna instancia coincide con el filtro.

not-an-email = Esto no es una dirección de correo electrónico. La lista muestra las instancias de todas las personas.

more = Más

tick-all = Seleccionar todo

bulk-form = Instancias seleccionadas

bulk-form-title = Instancias seleccionadas:

extend = Prolongar

bulk-end-title = Finalizar talleres

bulk-end-now = Finalizar ahora

bulk-keep = Mantener activos

back-to-list = Volver a la lista

bulk-results = Resultados

result = Resultado

bulk-until = Sigue en ejecución hasta { $value }

not-done = No se pudo:

try-again = El servicio no puede responder ahora mismo. Vuelve a intentarlo en un minuto.

nothing-ticked = No se seleccionó ninguna instancia.

bulk-what = El formulario contiene una acción desconocida.

sorted-by-template = Plantilla
sorted-by-owner = Propietario
sorted-by-state = Estado
sorted-by-launch = Inicio
sorted-by-end = Fin

tick = Seleccionar { $name }

bulk-end-question = { $count ->
    [one] ¿Finalizar 1 taller?
   *[other] ¿Finalizar { $count } talleres?
}

bulk-ended = Finalizados: { $done } de { $all }
bulk-ended-none = Finalizar talleres
bulk-extended = Prolongados: { $done } de { $all }
bulk-extended-none = Prolongar talleres

bulk-too-many = Selecciona como máximo { $most } instancias a la vez.
instance-search = Buscar
instance-search-hint = Propietario, plantilla o instancia
only-owner = Solo instancias de { $owner }.

instance-count = { $count ->
    [one] 1 instancia
   *[other] { $count } instancias
}
instance-count-more = Más de { $limit } instancias
instance-count-newest = { $count } entre las { $limit } instancias más recientes
instance-search-newest = La búsqueda abarca solo las { $limit } instancias más recientes. Para buscar en las anteriores, elige una plantilla.

outdated-count = { $count ->
    [one] 1 taller se ejecuta con una versión anterior del sidecar o de los ajustes.
   *[other] { $count } talleres se ejecutan con una versión anterior del sidecar o de los ajustes.
}
restart = Reiniciar
restart-title = Reiniciar talleres
restart-question = { $count ->
    [one] ¿Reiniciar 1 taller?
   *[other] ¿Reiniciar { $count } talleres?
}
restart-warning = Se perderá el trabajo sin guardar de estos talleres. Cada taller se inicia de nuevo con la versión actual. Las horas de fin no cambian.
restart-keeps-files = Los archivos se conservan: el taller los tiene de nuevo después del reinicio.
restart-deletes-files = El reinicio elimina los archivos de un taller. Su propietario puede descargarlos antes.
restart-first = Esta página muestra { $listed } de { $all } talleres. Vuelve a abrirla más tarde para reiniciar los demás.
restart-now = Reiniciar ahora
restart-none = Ningún taller se ejecuta con una versión anterior.
bulk-restarted = Reiniciados: { $done } de { $all }
bulk-restarted-none = Reiniciar talleres
restart-requested = El taller se reinicia.

files-of-some = { $count ->
    [one] 1 taller: { $files }
   *[other] { $count } talleres: { $files }
}
