### Texts of the start page, the pages of a workshop and of a template, and the history.

my-workshops = Mis talleres

no-workshops = No tienes talleres. Inicia uno abajo.

has-ended = “{ $name }” ha terminado.

only-the-newest = Esta lista muestra solo tus talleres más recientes.

show-all-mine = Mostrar todos mis talleres

files-of-paused = Un taller en pausa tiene tus archivos guardados. Reanúdalo para continuar o finalízalo.

waits-for = desde hace { $value }

ends-in = Finaliza en { $value }

ends-warning = ¡Guarda tu trabajo!

open = Abrir

more-actions = Más acciones: { $name }

details = Detalles

keeps-files = conserva los archivos

extend-until = Prolongar hasta { $value }

end = Finalizar

pause = Pausar

confirm-pause = ¿Pausar este taller? Sus programas se detienen. Los archivos que guardaste estarán de nuevo ahí cuando lo reanudes.

resume = Reanudar

paused-since = desde { $value }

launch-again = Volver a iniciar

parameter-optional = { $label } (opcional)

parameter-choose = Elegir…

parameter-secret = (secreto)

parameter-secret-hint = Este valor no se vuelve a mostrar.

parameter-secret-help = { $help } Este valor no se vuelve a mostrar.

parameters-wrong = No se ha iniciado nada. Corrija estos campos:

parameters-ignored = El enlace tiene valores que no puede rellenar. Rellena tú estos campos, si el formulario los tiene: { $names }

dismiss = Descartar

last-output = Últimas líneas de la salida

crash-crashed = La aplicación se detuvo de forma inesperada y se reinició a esta hora: { $value }.

crash-out-of-memory = La aplicación se quedó sin memoria y se reinició a esta hora: { $value }.
crash-moved = El servidor del taller se detuvo a esta hora: { $value }. El taller se reinició.

crash-files-kept = Los archivos guardados siguen ahí.

crash-files-lost = Los archivos que no se guardaron en otro lugar se han perdido.

crash-advice-crashed = Si vuelve a ocurrir, cuéntale a tu docente qué hiciste antes.

crash-advice-out-of-memory = Carga menos datos a la vez o pide una plantilla con más memoria.
crash-advice-moved = Vuelve a abrir tus archivos. Los programas que estaban en ejecución han terminado.

material = Material del curso

material-placed = { $target }: cargado

material-updated = { $target }: actualizado

material-unchanged = { $target }: al día

material-failed = { $target }: no cargado

material-not-loaded = No se pudo cargar el material del curso para la carpeta { $target }.

material-not-loaded-advice = El taller se ha iniciado de todos modos. Si conserva tus archivos, la carpeta tiene los archivos de tu último inicio. Avisa a tu docente o inicia el taller de nuevo más tarde.

material-conflicts = { $count ->
    [one] Tú y tu docente habéis cambiado un archivo en la carpeta { $target }.
   *[other] Tú y tu docente habéis cambiado { $count } archivos en la carpeta { $target }.
}

material-conflicts-advice = Tus archivos no han cambiado. Los archivos de tu docente están al lado, con otro nombre.

catalog = Iniciar un taller

shared-catalog = { $count ->
    [one] Un taller más
   *[other] { $count } talleres más
}

search-catalog = Buscar en el catálogo

search-hint = Buscar

search = Buscar

no-templates = Todavía no hay talleres que iniciar.

create-first = Crear la primera plantilla

nothing-found = Ningún taller coincide con tu búsqueda.

launch = Iniciar

have-one-short = Ya tienes uno

have-one = Ya tienes este taller:

repository-added = El taller recibe los archivos de este repositorio:

repository-reference = Rama, etiqueta o commit:

repository-folder = Solo la carpeta:

repository-refused = El enlace indica un repositorio que no se puede usar: { $wrong }.

last-one-failed = Tu último taller de esta plantilla falló.

show-it = Verlo

launch-another = Iniciar otro

edit-template = Editar plantilla

all-workshops = Todos los talleres

instance-name = Nombre

owner = Propietario

app = Aplicación

launched-at = Inicio

ready-since = Listo desde

latest-end = Prolongable hasta

ended-at = Fin

lasted = Duración

why-ended = Motivo del fin

belongs-to = Pertenece a { $value }.

end-workshop = Finalizar taller

keep-it = Mantener activo

pause-title = Pausar { $name }

pause-question = ¿Pausar «{ $name }»?

pause-warning = Todos los programas del taller se detienen y el trabajo no guardado se pierde. Los archivos que guardaste estarán de nuevo ahí cuando reanudes el taller. Puedes reanudarlo en cualquier momento.

pause-workshop = Pausar el taller

pause-cancel = Dejarlo en marcha

ended-workshops = Talleres finalizados

workshop = Taller

no-history = Todavía no ha finalizado ninguno de tus talleres.

saved-work = Trabajo guardado

saved-work-all = Trabajo guardado de todos

saved-work-about = Algunos talleres conservan sus archivos. Los tendrás de nuevo en el próximo inicio de ese taller.

snapshots-about = Algunos talleres guardan sus archivos aquí cuando finalizan, durante { $time }. La página de un taller indica si se guardarán sus archivos.

no-saved-work = Todavía no hay trabajo guardado.

saved-work-shared = Compartido por varios talleres

saved-work-size = Espacio

saved-work-last-used = Último uso

saved-work-deleted-after = Se elimina si no se usa hasta

saved-work-in-use = En uso

snapshot-size = Tamaño

snapshot-saved-at = Guardado

snapshot-deleted-on = Se elimina el

saved-work-delete = Eliminar

saved-work-download = Descargar

saved-work-question = ¿Eliminar el trabajo guardado de «{ $name }»?

saved-work-warning = Se eliminan todos los archivos. Nadie puede recuperarlos. El próximo inicio comienza sin archivos.

snapshot-warning = Se eliminan todos los archivos. Nadie puede recuperarlos.

saved-work-delete-now = Eliminar todos los archivos

saved-work-keep = Conservar los archivos

snapshot-pending = Guardando tus archivos antes de que finalice el taller.

snapshot-saved = Tus archivos están guardados.

snapshot-saved-until = Tus archivos están guardados hasta el { $value }.

snapshot-deleted = Los archivos guardados de este taller se eliminaron.

snapshot-failed = No se pudieron guardar tus archivos. { $reason }

snapshot-failure-time-limit = No se guardaron a tiempo.
snapshot-failure-too-large = Ocupan más de 2 GiB.
snapshot-failure-limit-reached = Ya hay archivos guardados de 20 talleres. Elimina antes algunos.
snapshot-failure-files-unavailable = El servicio no pudo leerlos.
snapshot-failure-store-unavailable = El servicio no pudo almacenarlos.
snapshot-failure-workshop-gone = El taller ya se había detenido.

in-new-tab = { $name } (en una pestaña nueva)

show-all = Mostrar todos ({ $offered })

found = Resultados: { $found } de { $offered }

lasts = Dura { $lifetime }
lasts-extensible = Dura { $lifetime }, prolongable hasta { $longest }

end-title = Finalizar { $name }

end-question = ¿Finalizar “{ $name }”?

outdated = Este taller se ejecuta con una versión anterior del sidecar o de los ajustes.
outdated-restart = Reiniciar los talleres desactualizados

files-are-deleted = Los archivos de un taller se eliminan cuando este finaliza. Descarga lo que quieras conservar.
files-are-kept = Los archivos se conservan cuando el taller finaliza: los tendrás de nuevo en el próximo inicio.
files-are-kept-for = Los archivos se conservan cuando el taller finaliza: los tendrás de nuevo en el próximo inicio. Se eliminan tras { $time } sin uso.
files-are-saved = Los archivos se guardan durante { $time } cuando el taller finaliza.
files-none-yet = El taller aún no tiene archivos.

saves-files = guarda los archivos durante { $time }
deletes-files = elimina los archivos al final

confirm-end = ¿Finalizar este taller? { $files }

end-warning = El taller se detiene. { $files }

material-short-failed = No cargado
material-short-conflicts = Conflictos

failure-report =
    { $template } ({ $workshop })
    Iniciado: { $time }
    { $failure }
    { $line }

copy-report = Copiar para mi docente

copied-report = Copiado

launch-with-files = Iniciar con estos archivos
files-launch-note = El taller empieza con tus archivos guardados:
saved-work-download-zip = Descargar en .zip
