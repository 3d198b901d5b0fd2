### The small page that extends a workshop, which the bar above a workshop opens.

extend-title = Prolongar { $name }
ends-at = Termina: { $value }.
extended = El taller se ha prolongado.
cannot-extend = Este taller no está en ejecución, así que no se puede prolongar.
close-window = Cerrar esta ventana
