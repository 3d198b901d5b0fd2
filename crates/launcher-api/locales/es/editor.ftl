### Texts of the list of templates, and of the editor.

editor-new-template = Nueva plantilla

editor-in-catalog = En el catálogo

editor-yes = Sí

editor-archived = Archivada

editor-changed = Modificada

editor-actions = Acciones

editor-edit = Editar

editor-duplicate = Duplicar

editor-archive = Archivar

editor-restore = Restaurar

editor-all-templates = Todas las plantillas

editor-create = Crear plantilla

editor-save = Guardar cambios

editor-show-preview = Vista previa

editor-save-and-try = Guardar y probar

editor-cancel = Cancelar

editor-preview-title = Vista previa

editor-preview = Todavía no se ha guardado nada. Abajo ves la tarjeta del catálogo y la página de la plantilla.

editor-conflict-title = Otro administrador modificó esta plantilla mientras la editabas.

editor-conflict = Tus cambios aún no están guardados: los tienes en el formulario de abajo. Para ver los otros cambios, abre esta página en otra pestaña. Si vuelves a guardar, tus cambios los reemplazarán.

editor-form-has-errors = No se guardó nada. Corrige estos campos:

editor-not-a-kind = Elige un tipo de aplicación de la lista.

editor-not-a-profile = Elige un perfil de la lista.

editor-not-a-storage = Elige una opción de la lista.

editor-not-a-number = Escribe un número entero.

editor-created-by = creada por { $author }
editor-the-service = el servicio

editor-copy-of = Copia de { $name }

editor-wrong-word = Palabra { $number }: { $wrong }

editor-wrong-entry = Entrada { $number }: { $wrong }

editor-second-time = Otra fila define { $name }. Define cada variable una sola vez.

editor-presets = Empezar con
editor-preset-source = Documentación de { $name }
editor-preset-no-image = No hay una imagen pública. Construye una con este Dockerfile, súbela a tu registro y escribe su nombre en el campo Imagen. Los archivos junto al Dockerfile pasan a ser archivos de la aplicación.
preset-jupyterlab = JupyterLab
preset-rstudio = RStudio
preset-vscode = VS Code
preset-marimo = marimo
preset-streamlit = Streamlit
preset-gradio = Gradio
preset-shiny = Shiny para Python
preset-dash = Dash
preset-panel = Panel
preset-voila = Voila
preset-terminal = Terminal
preset-desktop = Escritorio
preset-web = Aplicación web

editor-not-yaml = La línea { $line } no es YAML: { $message }
editor-not-a-yaml-object = Escribe un objeto YAML con los campos metadata y spec.
editor-not-a-size = Escribe un tamaño con su unidad, por ejemplo 512 MB, 10 GB o 2 GiB.
editor-not-a-gpu-count = Escribe un número entero de 0 a { $most }.
editor-not-a-secret-name = Escribe el nombre de un solo Secret: letras minúsculas, cifras, guiones y puntos.
editor-not-a-label = La línea { $line } no es una etiqueta. Escribe key=value.
editor-repeated-label = La línea { $line } repite la clave { $name }. Escribe cada clave una sola vez.
editor-set-in-yaml = El campo Plantilla del pod también contiene { $setting }. Quítalo de allí o vacía este campo.

editor-not-a-list = Escribe una línea de shell o una lista JSON de textos, por ejemplo ["sh", "-c", "…"].
editor-not-an-icon = Elige un icono de la lista.

editor-not-a-color = Elige un color de la lista.

editor-saved = Plantilla guardada. Comparte este enlace con tu clase:
editor-by-link = Solo con enlace

image-ready = Imagen lista en este servidor
image-missing = Imagen no disponible en este servidor
image-pulling = Descargando la imagen
image-failed = La imagen no se descargó

image-pulling-percent = Descargando: { $percent } %
image-unpacking = Descomprimiendo la imagen descargada

image-download = Descargar ahora

image-retry = Volver a intentarlo

image-begun-title = La imagen se está descargando.

image-begun = La descarga para { $name } continúa aunque salgas de esta página.

image-check-template = Comprueba el nombre y la etiqueta de la imagen en la plantilla. El registro de imágenes debe permitir descargas sin iniciar sesión.
image-check-registry = Comprueba que el servidor pueda acceder al registro de imágenes. Después, vuelve a intentarlo.
image-check-disk = Elimina del servidor las imágenes que no se usan. Después, vuelve a intentarlo.

editor-more = Más

editor-remove = Quitar
editor-check = Comprobar

editor-short-link = Enlace para tu clase:

editor-not-in-list = Elige una entrada de la lista.

editor-not-decimal = Escribe un número, por ejemplo 12 o 0.5.

editor-found-files = { $files ->
    [one] 1 archivo
   *[other] { $files } archivos
 }, { $size }

editor-found-branch = Encontrado: rama { $ref }, commit { $version }
editor-found-commit = Encontrado: commit { $version }
editor-found-archive = Encontrado: un archivo comprimido

editor-joined-facts = { $first }, { $second }.

editor-check-busy = Hay otras comprobaciones en curso. Vuelve a intentarlo dentro de medio minuto.
editor-check-failed = No se pudo comprobar la dirección. Vuelve a intentarlo, o guarda la plantilla y pruébala.

editor-unfound-title = Todavía no se ha guardado nada: no se encontró material del curso.
editor-unfound = Corrige las direcciones de abajo. O guarda la plantilla de todos modos: sus talleres se inician entonces sin estos archivos.
editor-save-anyway = Guardar de todos modos

editor-size = Tamaño
editor-size-figures = de { $cpu_request } a { $cpu_limit } CPU, de { $memory_request } a { $memory_limit } de memoria
editor-size-other = Otro
editor-size-other-figures = Valen los datos de “{ editor-more }”
size-small = Pequeño
size-medium = Mediano
size-large = Grande

editor-class-images = Esta clase permite estas imágenes: { $images }
