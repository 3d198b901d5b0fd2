### Labels and hints of the fields in the template editor.

field-shown = Entrada del catálogo

field-run = Aplicación

field-used = Recursos y duración

field-name = Nombre
    .hint = De 1 a 80 caracteres.

field-description = Descripción
    .hint = Markdown, 4000 caracteres como máximo. La tarjeta muestra las primeras líneas.

field-active = Se puede iniciar
    .hint = Si lo desactivas, los talleres en ejecución continúan.

field-app-type = Tipo de aplicación

field-image = Imagen
    .hint = Por ejemplo, quay.io/jupyter/base-notebook:latest.

field-port = Puerto
    .hint = Puerto en el que escucha la aplicación. Vacío: 8787 para RStudio, 8888 para Jupyter. Obligatorio para una aplicación web.

field-start-path = Ruta inicial
    .hint = Ruta de la primera página de la aplicación, por ejemplo /vnc.html?autoconnect=1. Vacío: /.

field-plain-tabs = Otras pestañas sin la barra
    .hint = Las páginas que la aplicación abre en otras pestañas del navegador no tienen la barra con el tiempo restante. Actívalo solo si esas páginas no funcionan debajo de la barra.

field-command = Comando
    .hint = { field-words } Vacío: el comando de la imagen.

field-arguments = Argumentos
    .hint = { field-words } Vacío: los argumentos de la imagen.

field-environment = Variables de entorno
    .hint = Quien inicia el taller puede leer estos valores. No escribas secretos aquí. Los valores pueden contener $(PORT), $(HOST) y $(ORIGIN).

field-security-profile = Perfil de seguridad
field-files = Archivos
field-storage = Después del final
    .hint = Archivos conservados: el próximo inicio de la misma persona los tiene de nuevo. Los demás archivos: un fallo de la aplicación los elimina de inmediato, salvo si eliges que sobrevivan a un fallo. Entonces el inicio tarda unos segundos más.
    .hint-of-machine = Archivos conservados: el próximo inicio de la misma persona los tiene de nuevo. Los demás archivos sobreviven a un fallo de la aplicación y se eliminan al final.
field-storage-size = Espacio para los archivos conservados
    .hint = Por ejemplo, 5 GB. Vacío: 1Gi. Los archivos existentes mantienen su espacio.
field-storage-path = Directorio de los archivos conservados
    .hint = Por ejemplo, /home/jovyan. Vacío: el directorio personal de la imagen estándar. Las demás aplicaciones necesitan un directorio.

field-storage-at-expiry = Cuando se acaba el tiempo
    .hint = Un taller en pausa continúa con sus archivos cuando la persona lo reanuda. Requiere archivos conservados.
field-material = Material del curso
field-material-sources = { field-material }
    .hint = Repositorios git y archivos comprimidos. Sus archivos están en el taller cuando se abre. Los talleres pueden leer las direcciones. No escribas contraseñas aquí.
field-material-directory = Directorio del material del curso
    .hint = Por ejemplo, /home/jovyan. Vacío: el directorio de los archivos conservados o el directorio personal de la imagen estándar. Las demás aplicaciones necesitan un directorio.
field-material-repositories = Repositorios que pueden indicar los enlaces
    .hint = Una dirección por línea, por ejemplo https://git.example.org/statistics/. Un enlace a esta plantilla puede indicar entonces un repositorio cuya dirección empieza así. Vacío: ninguno.
field-asked = Preguntas al iniciar
field-parameters = Preguntas
    .hint = Cada inicio pide hasta 10 valores. La aplicación recibe cada uno en una variable de entorno.
field-pod-template = Plantilla del pod
    .hint = Otros ajustes del pod, en YAML: parte de un PodTemplateSpec de Kubernetes, por ejemplo con volúmenes, variables de Secrets, contenedores de inicialización o tolerancias. Al guardar, se añaden los campos de arriba y se eliminan los comentarios.

field-shm-size = Memoria compartida
    .hint = Tamaño de /dev/shm, por ejemplo 1 GB. La parte usada cuenta como memoria de la aplicación. Vacío: 64 MiB.

field-gpu-count = GPU de NVIDIA
    .hint = Número de GPU, por ejemplo 1. Vacío o 0: ninguna.

field-ephemeral-storage = Espacio máximo en disco
    .hint = Límite de ephemeral-storage, por ejemplo 10 GB. Kubernetes expulsa un taller que use más. Vacío: sin límite.

field-image-pull-secret = Secret de descarga de imágenes
    .hint = Nombre del Secret con la contraseña del registro de imágenes. Vacío: los Secrets de la instalación.

field-node-selector = Selector de nodos
    .hint = Un key=value por línea. Los talleres solo se ejecutan en nodos que tengan todas estas etiquetas.

field-cpu-request = CPU reservada
    .hint = Número de núcleos, por ejemplo 0.5. Vacío: 100m.

field-cpu-limit = CPU máxima
    .hint = Número de núcleos, por ejemplo 2 o 0.5. Vacío: 2.

field-memory-request = Memoria reservada
    .hint = Por ejemplo, 512 MB. Vacío: 256Mi.

field-memory-limit = Memoria máxima
    .hint = Por ejemplo, 4 GB. Vacío: 2Gi.

field-lifetime = Duración
    .hint = Tiempo desde que está listo hasta el fin, por ejemplo 2 h o 90 min. Vacío: 2 h.

field-extension = Prolongación
    .hint = Tiempo que añade cada prolongación, por ejemplo 1 h. Vacío: 1 h.

field-longest = Duración máxima
    .hint = Las prolongaciones no pueden superarla. Vacío: 8 h.

field-words = Una línea como en un shell: las comillas mantienen unidas las palabras. $(PORT) representa el puerto de la aplicación. $(HOST) y $(ORIGIN) representan el host y el origen del taller, por ejemplo intro.example.org y https://intro.example.org.

field-unlisted = Solo con enlace
    .hint = La plantilla no aparece en el catálogo. Cualquiera que tenga su enlace puede iniciarla.

field-icon = Icono

field-color = Color

field-tags = Etiquetas
    .hint = Hasta 8 palabras que ayudan a encontrar la plantilla, separadas por comas.

field-slug = Enlace corto
    .hint = Un nombre para el enlace /go/name, por ejemplo estadistica-101. De 2 a 40 caracteres: letras minúsculas, cifras y guiones. Una plantilla nueva sin enlace corto lo recibe de su nombre.

field-command-line = Inicio de la aplicación

field-pod = Pod en Kubernetes

field-resources = CPU y memoria

row-source = Fuente { $number }
    .add = Añadir un repositorio
row-question = Pregunta { $number }
    .add = Añadir una pregunta
row-variable = Variable { $number }
    .add = Añadir una variable

part-url = Dirección
    .hint = Un repositorio o un archivo comprimido, por ejemplo https://git.example.org/statistics/101.git.
part-ref = Rama, etiqueta o commit
    .hint = Vacío: la rama predeterminada. Solo para un repositorio.
part-folder = Solo esta carpeta
    .hint = Por ejemplo week1. Vacío: todos los archivos.
part-target = Carpeta en el taller
    .hint = Vacío: el final de la dirección, por ejemplo 101.
part-sha256 = Suma de comprobación del archivo
    .hint = SHA-256. El botón Comprobar la rellena.
part-secret = Secreto
    .hint = Para una fuente privada: el nombre de un secreto que ha creado la administración. No una contraseña.

part-label = Pregunta
part-kind = Tipo de respuesta
part-choices = Opciones
    .hint = Una por línea. Solo para una opción de una lista.
part-required = La respuesta es obligatoria
part-variable = Variable de entorno
    .hint = Vacío: a partir de la pregunta, por ejemplo DATOS.
part-help = Texto de ayuda
part-default = Respuesta predeterminada
    .hint = No para textos secretos.
part-min = Mínimo
    .hint = Solo para números.
part-max = Máximo
    .hint = Solo para números.
part-integer = Solo números enteros
part-max-length = Longitud máxima
    .hint = En caracteres. Vacío: 200. Solo para textos.

part-name = Nombre de la variable
part-value = Valor

answer-text = Texto
answer-choice = Opción de una lista
answer-number = Número
answer-secret = Texto secreto
