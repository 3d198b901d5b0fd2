### Texts of the error pages.

quote-number = Si pides ayuda, indica este ID de solicitud: { $value }

sign-in = Iniciar sesión

to-workshops = Ir a los talleres

no-login-title = No hay ningún proxy de inicio de sesión en esta dirección

no-login = Workshop Launcher recibió una solicitud de inicio de sesión, pero no tiene inicio de sesión propio. Coloca delante un proxy de inicio de sesión o define SERVICE_LOGIN_URL con la dirección de uno. Para probar Workshop Launcher en este equipo sin proxy de inicio de sesión, usa make run o arráncalo con SERVICE_REQUIRE_AUTHENTICATION=false y SERVICE_DEV_IDENTITY=you@example.org. Estas opciones se explican en docs/settings.md.

signed-out-title = Has cerrado sesión

signed-out = Tus talleres siguen en ejecución hasta que finalicen. Puede que tu sesión siga abierta en tu proveedor de inicio de sesión. En un equipo compartido, ciérrala también allí o cierra el navegador.

sign-in-again = Volver a iniciar sesión

bad-address = La dirección de esta página contiene un parámetro no válido.

form-too-large = El formulario es demasiado grande.

form-of-another-kind = El formulario tiene un tipo de contenido incorrecto. Usa el formulario de la página.

form-of-another-page = En el formulario faltan campos o hay campos desconocidos.

form-unreadable = El formulario tiene un formato incorrecto o no llegó en 30 segundos.

error-authentication-required = Inicia sesión
    .text = No has iniciado sesión o tu sesión ha caducado.
error-identity-unproven = Esta dirección omite el inicio de sesión
    .text = Tu solicitud no pasó por el inicio de sesión. Abre la dirección que te dieron. Si ya lo hiciste, avisa a un administrador: el proxy de autenticación y Workshop Launcher tienen secretos distintos.
error-admin-only = Solo para administradores
    .text = Has iniciado sesión, pero no tienes permisos de administrador.
error-cross-site-request = Se rechazó la acción
    .text = La solicitud vino de otro sitio. No se cambió nada. Vuelve a abrir la página de este servicio y repite allí la acción.
error-not-found = Página no encontrada
    .text = Esta página no existe o no es tuya. Si era un taller, puede que haya finalizado hace tiempo.
error-version-mismatch = Otro administrador hizo cambios antes
    .text = La plantilla cambió después de que cargaras la página. Tu cambio no se guardó. Vuelve a cargar la página y repítelo.
error-body-too-large = El formulario es demasiado grande
    .text = No se guardó nada. Vuelve atrás, acorta el texto y envíalo de nuevo.
error-invalid-fields = No se aceptó el formulario
    .text = No se cambió nada. Vuelve a cargar la página y repite la acción.
error-unavailable = Vuelve a intentarlo en un momento
    .text = El servicio no puede responder ahora mismo. Los talleres en ejecución no se ven afectados.
error-internal = Se produjo un error en el servicio
    .text = El error quedó registrado. Los talleres en ejecución no se ven afectados. Vuelve a intentarlo en un momento.
error-other = No se pudo completar la solicitud

unknown-link = Ningún taller tiene el enlace «{ $link }»

unknown-link-advice = Compara el enlace con la diapositiva, letra por letra. Si es igual, pregunta a tu docente: puede que el enlace haya cambiado. La página de inicio muestra todos los talleres que puedes iniciar.
