### Failures of a workshop, by code. The remedy says what the reader can do, and if files are lost.

failure-image-pull-failed = El clúster no pudo descargar la imagen del taller.
failure-remedy-image-pull-failed = Avisa a tu docente o a un administrador: la plantilla indica una imagen incorrecta o el registro de imágenes deniega el acceso.
failure-crashed = El programa del taller se detuvo de forma inesperada.
failure-remedy-crashed = Los archivos que no se guardaron en otro lugar se han perdido. Vuelve a iniciar el taller o enséñale la salida a tu docente.
failure-out-of-memory = El taller superó su límite de memoria.
failure-remedy-out-of-memory = Los archivos que no se guardaron en otro lugar se han perdido. Vuelve a iniciar el taller y carga menos datos, o pide más memoria.
failure-unschedulable = Ahora mismo ningún nodo tiene capacidad para este taller.
failure-remedy-unschedulable = Vuelve a intentarlo en unos minutos. Si falla de nuevo, pide más capacidad a un administrador.
failure-start-timeout = El taller no estuvo listo a tiempo.
failure-remedy-start-timeout = Vuelve a iniciarlo. Si tarda demasiado otra vez, avisa a tu docente o a un administrador.
failure-quota-exceeded = La cuota de talleres está agotada.
failure-remedy-quota-exceeded = Vuelve a intentarlo cuando hayan finalizado otros talleres, o pide una cuota mayor a un administrador.
failure-evicted = El clúster detuvo el taller porque su nodo se estaba quedando sin memoria o sin disco.
failure-remedy-evicted = Los archivos que no se guardaron en otro lugar se han perdido. Vuelve a iniciar el taller.
failure-node-lost = El clúster perdió el nodo de este taller.
failure-remedy-node-lost = Los archivos que no se guardaron en otro lugar se han perdido. Vuelve a iniciar el taller.
failure-invalid-spec = La plantilla del taller tiene una configuración que no se puede ejecutar.
failure-remedy-invalid-spec = Avisa a tu docente o a un administrador: hay que corregir la plantilla.
failure-app-not-available = El programa del taller no está instalado aquí.
failure-remedy-app-not-available = Avisa a un administrador: hay que instalar el programa o corregir la plantilla.
failure-network-not-isolated = El taller no se inició porque el clúster no aisló su red.
failure-remedy-network-not-isolated = Vuelve a iniciarlo. Si falla de nuevo, avisa a un administrador: el clúster debe aplicar sus políticas de red.
