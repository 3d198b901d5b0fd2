### Texts of the activity log.

person = Persona

activity-list = Actividad, de la más reciente a la más antigua

no-activity = No se encontró actividad.

not-a-person = Esto no es una dirección de correo electrónico. La lista muestra la actividad de todas las personas.

activity-launched = { $actor } inició { $subject }.
activity-launched-for = { $actor } inició { $subject } de { $owner }.
activity-extended = { $actor } prolongó { $subject } hasta { $until }.
activity-extended-for = { $actor } prolongó { $subject } de { $owner } hasta { $until }.
activity-extended-beyond-maximum = { $actor } prolongó { $subject } hasta { $until }, { $duration } más que su duración máxima.
activity-extended-beyond-maximum-for = { $actor } prolongó { $subject } de { $owner } hasta { $until }, { $duration } más que su duración máxima.
activity-maximum-raised = { $actor } aumentó la duración máxima de { $subject } a { $duration }.
activity-maximum-raised-for = { $actor } aumentó la duración máxima de { $subject } de { $owner } a { $duration }.
activity-restarted = { $actor } reinició { $subject }.
activity-restarted-for = { $actor } reinició { $subject } de { $owner }.
activity-suspended = { $actor } pausó { $subject }.
activity-suspended-for = { $actor } pausó { $subject } de { $owner }.
activity-resumed = { $actor } reanudó { $subject }.
activity-resumed-for = { $actor } reanudó { $subject } de { $owner }.
activity-ended = { $actor } finalizó { $subject }.
activity-ended-for = { $actor } finalizó { $subject } de { $owner }.
activity-failed = { $actor } marcó { $subject } como fallido.
activity-failed-for = { $actor } marcó { $subject } de { $owner } como fallido.
activity-dismissed = { $actor } descartó { $subject }, que había fallado.
activity-dismissed-for = { $actor } descartó { $subject } de { $owner }, que había fallado.
activity-template-created = { $actor } creó la plantilla { $subject }.
activity-template-changed = { $actor } modificó la plantilla { $subject }.
activity-template-changed-fields = { $actor } modificó la plantilla { $subject }: { $fields }.
activity-joined = { $first }, { $second }
activity-template-archived = { $actor } archivó la plantilla { $subject }.
activity-template-restored = { $actor } restauró la plantilla { $subject }.
activity-class-created = { $actor } creó la clase { $subject }.
activity-class-changed = { $actor } cambió la clase { $subject }.
activity-join-link-created = { $actor } creó un enlace de inscripción de la clase { $subject }.
activity-join-link-revoked = { $actor } revocó el enlace de inscripción de la clase { $subject }.
activity-class-message-sent = { $actor } envió un mensaje a la clase { $subject }.
activity-member-added = { $actor } se unió a la clase { $subject }.
activity-member-added-for = { $actor } añadió a { $owner } a la clase { $subject }.
activity-member-changed = { $actor } recibió otra función en la clase { $subject }.
activity-member-changed-for = { $actor } dio a { $owner } otra función en la clase { $subject }.
activity-member-removed = { $actor } dejó la clase { $subject }.
activity-member-removed-for = { $actor } quitó a { $owner } de la clase { $subject }.
activity-volume-deleted = { $actor } eliminó el trabajo guardado de { $subject }.
activity-volume-deleted-for = { $actor } eliminó el trabajo guardado de { $owner } en { $subject }.
activity-files-downloaded = { $actor } descargó el trabajo guardado de { $subject }.
activity-files-downloaded-for = { $actor } descargó el trabajo guardado de { $owner } en { $subject }.
downloads-by-others = Descargas de tus archivos por administradores

activity-service = El servicio

activity-ended-alone = { $subject } de { $owner } finalizó.
activity-ended-alone-why = { $subject } de { $owner } finalizó. { $reason }.
activity-suspended-alone = { $subject } de { $owner } se pausó porque se acabó su tiempo.
activity-failed-alone = { $subject } de { $owner } falló.
activity-failed-alone-why = { $subject } de { $owner } falló. { $reason }.
