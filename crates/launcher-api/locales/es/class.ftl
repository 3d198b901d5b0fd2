### Texts of the page of a class, and of the extension of all its workshops.

class = Clase
class-size = En marcha
class-title = Clase: { $name }
class-all-instances = Todas las instancias de esta plantilla
class-states = Talleres por estado
class-extend-until = Prolongar todos los talleres hasta
class-extend = Prolongar todos
class-extend-hint = Prolonga cada taller que está listo, como máximo hasta su duración máxima. Ningún taller finaliza antes.
class-roster = ¿Quién no ha iniciado un taller?
class-addresses = Direcciones de correo electrónico de la clase
class-addresses-hint = Separa las direcciones con saltos de línea, comas o puntos y comas. Como máximo { $most } direcciones. No se guardan.
class-compare = Comparar
class-too-many = La lista tiene más de { $most } entradas. No se comparó nada.
class-compared = Tu lista
class-not-launched = Sin iniciar
class-unreadable = No es una dirección de correo electrónico
class-instances = Talleres actuales
class-empty = Ahora no hay talleres de esta plantilla.
class-part = Esta página muestra { $shown } de { $all } talleres.
class-first = Primera página
class-result = Prolongación hasta { $value }
class-extended = Prolongado hasta { $value }
class-shortened = Prolongado solo hasta { $value }, su duración máxima
class-unchanged = Sin cambios: finaliza a esta hora: { $value }
class-count-extended = Prolongados
class-count-shortened = Prolongados hasta el máximo
class-count-unchanged = Sin cambios
class-count-refused = No prolongados
class-nothing-ready = Ningún taller está listo. No se ha prolongado nada.
class-back = Volver a la clase
class-until-invalid = Elige una hora de la lista.

material-trouble-count = Problema con el material del curso
