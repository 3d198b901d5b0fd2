### Notices about refused actions.

limit-title = Has llegado a tu límite.

not-launched = El taller no se inició.

at-capacity = Hay demasiados talleres en cola. Vuelve a intentarlo en un minuto.

volume-in-use-title = Otro taller usa estos archivos.

volume-in-use = Tu taller { $workshop } los usa. Continúa allí o finalízalo primero y vuelve a intentarlo cuando haya finalizado.

volume-in-use-suspended = Tu taller en pausa { $workshop } usa estos archivos. Reanúdalo para continuar o finalízalo primero.

storage-limit-title = Tu trabajo guardado ha llegado a su límite.

storage-limit = Tu trabajo guardado puede ocupar como máximo { $gib } GiB en total. Este taller superaría ese máximo. Elimina el trabajo guardado que ya no necesites y vuelve a iniciar el taller.

no-download-title = Los archivos no se descargaron.

no-download = Abre un taller de esta plantilla y descarga allí los archivos.

too-many-downloads = Ya tienes una descarga en curso, o hay demasiadas otras. Vuelve a intentarlo en un minuto.
download-not-ready = No se pudieron abrir los archivos a tiempo. Vuelve a intentarlo en un minuto, o inicia un taller y descárgalos allí.
snapshots-unavailable = Los archivos guardados no se pueden leer ahora. Vuelve a intentarlo en un minuto.

key-reused = La página no estaba actualizada. Ahora ya lo está. Vuelve a iniciar el taller abajo.

not-extended = El taller no se prolongó.

expiry-changed = La hora de fin cambió después de que cargaras la página. Abajo ves la actual. Prolonga otra vez el taller si necesitas más tiempo.

gone-title = Este taller ya no existe.

gone = La lista de abajo está actualizada.

inactive-admin = Esta plantilla está archivada. Solo los administradores pueden iniciarla, con fines de prueba.

inactive-user = Este taller ya no se ofrece. Pregunta a tu docente cuál es el actual.

not-allowed-in-class = La clase ya no permite este taller. { $reasons } El profesorado puede cambiarlo.
class-limit = Esta clase ya tiene { $limit } talleres, su límite. Espera a que termine uno o pregunta a tu docente.
class-limit-own = Ya tienes { $limit } talleres en esta clase, el límite. Finaliza uno primero.
class-over = Esta clase ha terminado: sus talleres ya no se pueden iniciar.
class-not-begun = Esta clase no ha empezado. Podrás iniciar sus talleres desde el primer día.

fault-title = El servicio no respondió.

fault = No se sabe si la acción tuvo efecto. Revisa la lista de abajo en un momento. Si no cambió nada, vuelve a intentarlo. Los talleres en ejecución no se ven afectados.

limit-reached = Tienes { $held ->
        [one] 1 taller
       *[other] { $held } talleres
    }. El límite es { $limit }. { $ending ->
        [0] Finaliza uno y vuelve a intentarlo.
        [one] Uno todavía está finalizando y cuenta hasta que termine. Vuelve a intentarlo en un momento.
       *[other] { $ending } todavía están finalizando y cuentan hasta que terminen. Vuelve a intentarlo en un momento.
    }

too-many-launches = Has iniciado demasiados talleres en poco tiempo. Vuelve a intentarlo en { $seconds ->
        [one] 1 segundo
       *[other] { $seconds } segundos
    }.

no-extension-not-running = Se agotó su tiempo.
not-extended-not-running = Solo se puede prolongar un taller en ejecución.
not-extended-lifetime-limit-reached = Llegó a su duración máxima.
not-extended-expiry-changed = Su hora de fin cambió.

not-restarted = El taller no se reinició.
not-restarted-not-running = Solo se puede reiniciar un taller en ejecución.
not-restarted-not-outdated = Ya se ejecuta con la versión actual.

not-paused = El taller no se pausó.

not-paused-not-running = Solo se puede pausar un taller en marcha.
not-paused-files-not-kept = Sus archivos no se conservan. Finalízalo en su lugar.

not-resumed = El taller no se reanudó.

not-resumed-still-pausing = Todavía se está pausando. Vuelve a intentarlo en unos segundos.
not-resumed-not-paused = Solo se puede reanudar un taller en pausa. Inícialo de nuevo.

