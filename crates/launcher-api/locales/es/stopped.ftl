### Texts for the owner at the address of a workshop that does not run.

stopped-title = Ahora no hay ningún taller aquí
stopped-owner = Finalizaste «{ $name }».
stopped-admin = Un administrador finalizó «{ $name }».
stopped-teacher = Un docente finalizó «{ $name }».
stopped-expired = El tiempo de «{ $name }» ha terminado.
stopped-failed = «{ $name }» ha fallado.
stopped-lost = El servidor perdió «{ $name }» o un administrador lo eliminó.
stopped-at = Terminó el { $time }.
stopped-paused = «{ $name }» está en pausa.
stopped-starting-title = El taller se está iniciando
stopped-starting = «{ $name }» aún no responde. Se abrirá aquí cuando esté listo.
stopped-files-kept = Tus archivos se conservan. Tu próximo inicio los tendrá de nuevo.
stopped-files-deleted = Los archivos de este taller se han eliminado.
stopped-saved-work = Trabajo guardado
stopped-page = Abrir su página
