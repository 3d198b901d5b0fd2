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

usual-start = Suele estar listo en { $duration }.
