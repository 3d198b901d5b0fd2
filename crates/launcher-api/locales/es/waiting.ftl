### Texts of the waiting page.

steps = Pasos del inicio

step-done = hecho

step-current = en curso

opens-by-itself = Esta página abre el taller cuando está listo.

is-ready = El taller está listo y se abre ahora.

cancel = Cancelar

start-log = Registro del inicio

start-step-queue = Esperar en la cola
start-step-prepare = Buscar capacidad y preparar el taller
start-step-image = Descargar la imagen si hace falta
start-step-downloads = Descargar el material del curso y, si hace falta, la imagen
start-step-app = Iniciar la aplicación

wait-queue = { $before ->
    [0] Es tu turno.
    [one] Hay 1 persona antes que tú.
   *[other] Hay { $before } personas antes que tú.
}
wait-queue-about = { $before ->
    [0] Es tu turno. Listo en unos { $time }.
    [one] Hay 1 persona antes que tú. Listo en unos { $time }.
   *[other] Hay { $before } personas antes que tú. Listo en unos { $time }.
}
wait-room = { $before ->
    [0] Todas las plazas están ocupadas. Tu taller se inicia en cuanto haya una libre.
    [one] Todas las plazas están ocupadas. Hay 1 persona antes que tú.
   *[other] Todas las plazas están ocupadas. Hay { $before } personas antes que tú.
}
wait-about = Listo en unos { $time }.
wait-longer = Tarda más de lo habitual.
wait-starting = Tu taller se está iniciando.

wait-progress = Progreso del inicio

wait-details = Detalles

doing-waiting-for-quota = Esperando que termine otro taller de la clase.
doing-waiting-for-room = Esperando una plaza libre.
doing-preparing = Preparando tu taller.
doing-pulling-image = Obteniendo el software. La primera vez tarda más.
doing-loading-material = Obteniendo los archivos del curso.
doing-starting-app = Iniciando la aplicación.
doing-restarting-app = La aplicación se detuvo y se reinicia.

start-step-material = Descargar el material del curso

material-trouble-failed = Los archivos del curso no se cargaron
material-trouble-conflicts = Tú y tu docente cambiasteis los mismos archivos

open-anyway = Abrir de todos modos

material-try-again = Intentar de nuevo

material-try-again-about = «Intentar de nuevo» finaliza este taller y lo inicia otra vez. { $files }
