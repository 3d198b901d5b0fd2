join-link = Enlace de inscripción
join-link-until = Válido hasta
join-link-closed = El enlace ya no admite a nadie.
join-link-show = Mostrar el código
join-link-revoke = Revocar el enlace
join-link-none = La clase no tiene enlace de inscripción.
join-link-new = Enlace nuevo
join-link-valid = Válido durante
join-link-seats = Número de plazas
join-link-seats-hint = Vacío: sin límite.
join-link-domain = Solo direcciones del dominio
join-link-domain-hint = Vacío: todas las personas que pueden iniciar sesión.
join-link-members-only = Solo llevar a los miembros a la clase, sin añadir a nadie
join-link-create = Crear enlace
join-with = Únete a la clase
join-qr = Código QR del enlace de inscripción
join-title = Unirse a una clase
join-refused = No puedes unirte con este enlace
join-button = Unirme
join-code = Código
join-code-hint = 10 letras y cifras, como las muestra tu docente.
join-continue = Continuar
join-unknown = Ninguna clase tiene este código. Compáralo, carácter por carácter, con el que muestra tu docente.
join-enter = Unirse a una clase con un código
back-to-class = Volver a la clase
join-link-joined = { $people ->
    [one] Se ha unido { $people } persona
   *[other] Se han unido { $people } personas
}
join-link-joined-of = { $people } de { $seats } plazas ocupadas
join-link-days = { $days ->
    [one] { $days } día
   *[other] { $days } días
}
join-question = Has iniciado sesión como { $email }. ¿Unirte a esta clase?
join-account = Has iniciado sesión como { $email }.
join-too-many = Has probado muchos códigos incorrectos. Inténtalo de nuevo en { $minutes ->
    [one] { $minutes } minuto
   *[other] { $minutes } minutos
}.
