### Labels and hints of the fields in the template editor.

field-shown = Entrada del catálogo

field-run = Aplicación

field-used = Recursos

field-lasting = Duración

field-name = Nombre
    .hint = De 1 a 80 caracteres.

field-description = Descripción
    .hint = Markdown, 4000 caracteres como máximo. La tarjeta muestra las primeras líneas.

field-active = En el catálogo
    .hint = Los usuarios pueden iniciar esta plantilla. Si se retira del catálogo, los talleres en ejecución continúan.

field-app-type = Tipo de aplicación

field-image = Imagen
    .hint = Por ejemplo, quay.io/jupyter/base-notebook:latest.

field-port = Puerto
    .hint = Puerto en el que escucha la aplicación. Vacío: 8787 para RStudio, 8888 para Jupyter. Obligatorio para una aplicación web.

field-command = Comando
    .hint = { field-words }

field-arguments = Argumentos
    .hint = { field-words }

field-environment = Variables de entorno
    .hint = Un NAME=value por línea. Si un valor contiene saltos de línea, escribe una cadena JSON: KEY="a\nb". Cualquiera que inicie el taller puede leer estos valores. No escribas secretos aquí.

field-security-profile = Perfil de seguridad

field-cpu-request = Solicitud de CPU
    .hint = Reservada para el taller. Vacío: 100m.

field-cpu-limit = Límite de CPU
    .hint = Máximo para el taller. Vacío: 2.

field-memory-request = Solicitud de memoria
    .hint = Reservada para el taller. Vacío: 256Mi.

field-memory-limit = Límite de memoria
    .hint = Máximo para el taller. Vacío: 2Gi.

field-lifetime = Duración en segundos
    .hint = Tiempo desde que está listo hasta el fin. Vacío: 7200 (dos horas).

field-extension = Prolongación en segundos
    .hint = Tiempo que añade cada prolongación. Vacío: 3600 (una hora).

field-longest = Duración máxima en segundos
    .hint = Las prolongaciones no pueden superarla. Vacío: 28800 (ocho horas).

field-words = Una palabra por línea. $(PORT) representa el puerto de la aplicación. Si una palabra contiene un salto de línea, o espacios al principio o al final, escribe una cadena JSON: "a\nb".
