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
    .hint = Un NAME=value por línea. Si un valor contiene saltos de línea, escribe una cadena JSON: KEY="a\nb". Cualquiera que inicie el taller puede leer estos valores. No escribas secretos aquí. Los valores pueden contener $(PORT), $(HOST) y $(ORIGIN).

field-security-profile = Perfil de seguridad
field-files = Archivos
field-storage = Después del final
    .hint = Archivos conservados: el próximo inicio de la misma persona los tiene de nuevo. Los demás archivos: en Kubernetes, un fallo de la aplicación los elimina de inmediato, salvo si eliges que sobrevivan a un fallo. Entonces el inicio tarda unos segundos más.
field-storage-size = Espacio para los archivos conservados
    .hint = Por ejemplo, 5 GB. Vacío: 1Gi. Los archivos existentes mantienen su espacio.
field-storage-path = Directorio de los archivos conservados
    .hint = Por ejemplo, /home/jovyan. Vacío: el directorio personal de la imagen estándar. Las demás aplicaciones necesitan un directorio.

field-storage-at-expiry = Cuando se acaba el tiempo
    .hint = Un taller en pausa continúa con sus archivos cuando la persona lo reanuda. Requiere archivos conservados.
field-material = Material del curso
field-material-sources = Repositorios git y archivos comprimidos
    .hint = Una fuente por línea: su dirección y, si hace falta, ajustes, por ejemplo https://git.example.org/statistics/101.git ref=main folder=week1 target=statistics. Al abrir el taller, los archivos están en la carpeta target. Un archivo zip o tar necesita sha256=… Una fuente privada necesita secret=NOMBRE, un secreto que ha creado la administración. Los talleres pueden leer estas direcciones. No escribas contraseñas aquí.
field-material-directory = Directorio del material del curso
    .hint = Por ejemplo, /home/jovyan. Vacío: el directorio de los archivos conservados o el directorio personal de la imagen estándar. Las demás aplicaciones necesitan un directorio.
field-material-repositories = Repositorios que pueden indicar los enlaces
    .hint = Una dirección por línea, por ejemplo https://git.example.org/statistics/. Un enlace a esta plantilla puede indicar entonces un repositorio cuya dirección empieza así. Vacío: ninguno.
field-asked = Preguntas al iniciar
field-parameters = Parámetros de inicio
    .hint = Hasta 10 valores que se piden al iniciar, en YAML. Ejemplo: - {"{"}name: DATASET, label: Conjunto de datos, kind: choice, choices: [iris, cars]{"}"}. La aplicación recibe cada valor en la variable de ese nombre. Tipos: text, choice, number, secret.
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

field-tags = Etiquetas
    .hint = Hasta 8 palabras que ayudan a encontrar la plantilla, separadas por comas.

field-slug = Enlace corto
    .hint = Un nombre para el enlace /go/name, por ejemplo statistics-101. Usa de 2 a 40 letras minúsculas (a-z), dígitos y guiones.

field-command-line = Inicio de la aplicación

field-more = Límites y enlace

field-pod = Pod en Kubernetes

field-resources = CPU y memoria
