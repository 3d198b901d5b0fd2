### Texts of the frame around every page, and of the script.

product = Workshop Launcher

skip = Ir al contenido

pages = Páginas

workshops = Talleres

history = Historial

overview = Resumen

all-instances = Todas las instancias

templates = Plantillas

activity = Actividad

admin = Admin

sign-out = Cerrar sesión

help = Ayuda

students-guide = Guía para estudiantes

teachers-guide = Guía para docentes

api-docs = Documentación de la API

offline = Se perdió la conexión. Puede que esta página no esté actualizada. Se reconecta automáticamente.

shares-one-user = Aquí los talleres no están aislados entre sí.

shares-one-user-advice = Si las personas no confían unas en otras, ejecuta los talleres en contenedores o en Kubernetes.

isolation = Aislamiento de los talleres

account = Cuenta

notify = Avisarme

notify-on = Recibirás avisos

notify-off = Los avisos están desactivados

spoken-end = { $name }: finaliza en { $left }

spoken-advice = Guarda tu trabajo o prolonga el taller.

product-version = Workshop Launcher { $version }

no-authentication = La autenticación está desactivada. Úsalo así solo para desarrollo: cualquier visitante es { $email }.

languages = Idioma
language-name = Español

older = Anteriores

filter = Filtro

filter-show = Mostrar

filter-reset = Restablecer

address-example = name@example.org
