classes = Clases
all-classes = Todas las clases
no-classes = No tienes clases.
my-classes = Mis clases
archived = Archivada
new-class = Nueva clase
class-name = Nombre de la clase
class-teachers = Docentes
class-teachers-hint = Direcciones, una por línea. Vacío: tú.
create-class = Crear la clase
classes-unreadable = Línea { $line }: «{ $entry }» no es una dirección de correo.
class-catalog = Talleres de esta clase
class-no-templates = Esta clase aún no tiene talleres.
role = Función
class-ends = Fin
role-none = No es miembro
role-student = Estudiante
role-assistant = Asistente
role-teacher = Docente
members = Miembros
members-table = Miembros con sus talleres
member = Miembro
add-members = Añadir miembros
add-members-hint = Pega direcciones, o una tabla con su encabezado, tal como la exporta tu plataforma. Ves todos los cambios antes de que se hagan.
remove-member = Quitar
remove-member-question = ¿Quitar a { $email } de la clase?
remove-member-warning = Sus talleres de esta clase terminan. Su trabajo guardado sigue siendo suyo.
end-of-member-question = ¿Finalizar el taller { $name }?
end-of-member-warning = El trabajo sin guardar se pierde.
standing-failed = Con error
standing-trouble = Problema con el material
standing-absent = No está
standing-joined = Estuvo
standing-left-at = Estuvo hasta { $value }
last-use-at = · último uso { $value }
standing-starting = Iniciando
standing-paused = En pausa
standing-ready = Listo
class-settings = Ajustes de la clase
class-save = Guardar
class-changed-meanwhile = La clase ha cambiado entretanto. Abre esta página de nuevo y repite tus cambios.
class-field-name = Nombre
    .hint = Una línea.
class-field-description = Descripción
    .hint = La ven los miembros y las personas con el enlace de inscripción. Markdown.
class-field-starts-on = Primer día
    .hint = Vacío: se puede iniciar enseguida.
class-field-ends-on = Último día
    .hint = Vacío: sin fin.
class-field-max-workshops = Talleres de la clase a la vez
    .hint = Vacío: solo los límites de este lanzador. Solo los administradores lo aumentan.
class-field-max-workshops-per-member = Talleres de una persona a la vez
    .hint = Vacío: solo los límites de este lanzador. Solo los administradores lo aumentan.
class-field-queue-weight = Peso en la cola
    .hint = De 1 a 10. Con el doble de peso, arrancan a la vez el doble de talleres de la clase.
class-field-namespace = Espacio de nombres de Kubernetes
    .hint = Uno que la administración ha preparado para clases. Un cambio vale para los inicios posteriores; los archivos guardados se quedan donde están.
class-field-namespace-default = el de todos los demás talleres
class-field-slug = Nombre en las direcciones
    .hint = Los enlaces con el nombre anterior ya no llevan aquí.
class-field-archived = La clase ha terminado
    .hint = Los estudiantes ya no pueden iniciar nada. Los talleres en marcha continúan.
board-search = Nombre o dirección
board-standing = Estado de los miembros
board-all-standings = Todos los estados
board-none-found = Ningún miembro coincide.
class-actions = Todos los talleres de la clase
all-launch-title = Iniciar para todos
all-launch-question = { $count ->
    [one] ¿Iniciar un taller para el estudiante de la clase?
   *[other] ¿Iniciar un taller para cada uno de los { $count } estudiantes?
}
all-launch-warning = Quien ya tiene un taller de esta plantilla lo conserva. Los demás reciben uno, que encuentran en su página de inicio.
all-launch-template = Plantilla
all-launch-result = Inicio para todos los estudiantes
all-launch-done = Iniciado
all-launch-unchanged = Ya tiene uno
all-extend-title = Prolongar todos
all-extend-question = { $count ->
    [one] ¿Prolongar el taller listo de la clase?
   *[other] ¿Prolongar los { $count } talleres listos de la clase?
}
all-extend-warning = Cada uno dura como máximo hasta su duración máxima. Ningún taller finaliza antes.
all-pause-title = Pausar todos
all-pause-question = { $count ->
    [one] ¿Pausar el taller listo de la clase?
   *[other] ¿Pausar los { $count } talleres listos de la clase?
}
all-pause-warning = Sus programas se detienen. Sus archivos guardados quedan, y cada persona puede reanudar su taller. Los talleres que no conservan archivos continúan.
all-pause-result = Pausa de todos los talleres
all-pause-done = En pausa
all-end-title = Finalizar todos
all-end-question = { $count ->
    [one] ¿Finalizar el taller de la clase?
   *[other] ¿Finalizar los { $count } talleres de la clase?
}
all-end-warning = El trabajo sin guardar se pierde. Los archivos guardados siguen siendo de los estudiantes.
all-end-result = Fin de todos los talleres
all-end-done = Finalizado
all-end-unchanged = Ya estaba finalizando
all-count-refused = No realizado
all-nothing = No había nada que hacer.
all-needs-values = El inicio de esta plantilla pide valores que solo el estudiante conoce. Da un valor predeterminado en la plantilla, o comparte el enlace de la plantilla.
other-limit = Tiene { $limit } talleres, que es el límite
other-class-limit = Tiene { $limit } talleres en esta clase, que es el límite
all-class-limit = La clase tiene { $limit } talleres, que es su límite
other-too-many-launches = Demasiados inicios en poco tiempo
other-volume-in-use = Otro taller de esta persona usa los archivos guardados
other-storage = Tiene { $gib } GiB de trabajo guardado, que es el límite
projector = Vista para el proyector
attendance = Descargar la asistencia
class-manage = Gestionar la clase
class-state-not-begun = No ha empezado
class-state-over = Terminada
class-member-states = Miembros por estado
all-none = No hay nada que hacer.
guide-class = Tu clase en diez pasos
guide-code = Ejemplo: el código en el proyector.
guide-board = Ejemplo: la página de la clase.
guide-hand = Ejemplo: una mano levantada y un mensaje para todos.
guide-message = Empieza el ejercicio 2.
