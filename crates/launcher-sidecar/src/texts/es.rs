//! Spanish texts.

use super::table::{NoticeText, Texts};

pub(super) const TEXTS: Texts = Texts {
    code: "es",
    direction: "ltr",
    workshop: "Taller",
    bar: "Workshop Launcher",
    app: "Aplicación",
    left: "Tiempo restante: {left}",
    ends: "Fin: {time}",
    warning: "Este taller termina en {left}. Guarda tu trabajo.",
    over: "Este taller ha terminado.",
    signed_out: "Tu sesión se ha cerrado. Recarga esta página para iniciar sesión de nuevo.",
    crashed: "La aplicación falló y se inició de nuevo. Los archivos guardados siguen ahí. Recarga esta página.",
    out_of_memory: "La aplicación se quedó sin memoria y se inició de nuevo. Los archivos guardados siguen ahí. Recarga esta página.",
    files_lost: "La aplicación falló y se inició de nuevo. Los archivos que no se guardaron en otro lugar se han perdido. Recarga esta página.",
    extend: "Prolongar",
    extend_hint: "el tiempo de este taller (en una ventana pequeña)",
    home: "Inicio",
    launcher: "Volver a Workshop Launcher",
    not_yours: NoticeText {
        title: "Este taller no es tuyo",
        text: "No tienes ningún taller en esta dirección. Puede que haya terminado o que pertenezca a otra persona. Si \
               lo iniciaste, inicia sesión con la misma cuenta.",
    },
    not_signed_in: NoticeText {
        title: "Sin sesión iniciada",
        text: "La solicitud no contiene ninguna identidad. Abre el taller desde Workshop Launcher e inicia sesión allí.",
    },
    unknown: NoticeText {
        title: "El taller no existe",
        text: "No hay ningún taller en esta dirección. Puede que haya terminado.",
    },
    starting: NoticeText {
        title: "El taller se está iniciando",
        text: "El taller todavía no responde. Esta página se recarga cada 2 segundos hasta que responda.",
    },
    no_answer: NoticeText {
        title: "El taller no responde",
        text: "Se ha perdido la conexión con la aplicación, o la aplicación ha enviado una respuesta no válida. Recarga \
               esta página.",
    },
    failed: NoticeText { title: "Tu taller ha fallado", text: "Se desconoce la causa." },
    terminated: NoticeText { title: "Tu taller ha terminado", text: "Se terminó antes de agotar su tiempo." },
    expired: NoticeText { title: "Tu taller ha terminado", text: "Su tiempo se ha agotado." },
};
