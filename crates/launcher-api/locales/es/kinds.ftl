### States, reasons, app types and security profiles.

state-queued = En cola
state-starting = Iniciando
state-running = Listo
state-suspending = Pausando
state-suspended = En pausa
state-terminating = Finalizando
state-terminated = Finalizado
state-failed = Fallido

state-next = { $state }: es el siguiente
state-position = { $state }: posición { $position }
state-step = { $state }: { $step }

step-waiting-for-quota = esperando que termine otro taller de la clase
step-waiting-for-room = esperando que haya capacidad
step-waiting-for-room-progress = esperando que haya capacidad, posición { $position }
step-preparing = preparando el taller
step-pulling-image = descargando la imagen (la primera vez tarda más)
step-pulling-image-progress = descargando la imagen: { $percent } %
step-pulling-image-unpacking = descomprimiendo la imagen descargada
step-loading-material = cargando el material del curso
step-starting-app = esperando a que responda la aplicación
step-restarting-app = la aplicación se detuvo y se está reiniciando

end-owner = Lo finalizó su propietario
end-admin = Lo finalizó un administrador
end-teacher = Lo finalizó un docente
end-expired = Se agotó su tiempo
end-failed = Falló
end-lost = El servidor lo perdió o un administrador lo eliminó

app-rstudio = RStudio
app-notebook = Jupyter Notebook
app-custom = Aplicación web

profile-restricted = restricted: sin root (recomendado)
profile-baseline = baseline: root en el contenedor (lo necesitan las imágenes estándar de RStudio)
storage-none = Eliminar los archivos
storage-workshop = Eliminar los archivos al final, pero conservarlos tras un fallo de la aplicación
storage-kept = Conservar los archivos de cada persona
storage-home = Conservar los archivos de cada persona, compartidos con otras plantillas

at-expiry-end = El taller finaliza
at-expiry-suspend = El taller se pausa

icon-of-app = Según la aplicación
icon-notebook = Cuaderno
icon-statistics = Estadística
icon-code = Código
icon-terminal = Terminal
icon-web = Página web
icon-database = Base de datos
icon-chart = Gráfico
icon-globe = Globo terráqueo
icon-book = Libro
icon-flask = Matraz

color-of-name = Según el nombre
color-rose = Rosado
color-red = Rojo
color-orange = Naranja
color-yellow = Amarillo
color-lime = Lima
color-green = Verde
color-teal = Verde azulado
color-cyan = Cian
color-blue = Azul
color-indigo = Índigo
color-purple = Morado
color-pink = Rosa
