### Texts of the page of a class, and of the extension of all its workshops.

workshops-of-template = Talleres
workshops-size = En marcha
workshops-title = Talleres de { $name }
workshops-all-instances = Todas las instancias de esta plantilla
workshops-states = Talleres por estado
workshops-extend-until = Prolongar todos los talleres hasta
workshops-extend = Prolongar todos
workshops-extend-hint = Prolonga cada taller que está listo, como máximo hasta su duración máxima. Ningún taller finaliza antes.
workshops-roster = ¿Quién no ha iniciado un taller?
workshops-addresses = Direcciones de correo electrónico
workshops-addresses-hint = Separa las direcciones con saltos de línea, comas o puntos y comas. Como máximo { $most } direcciones. No se guardan.
workshops-compare = Comparar
workshops-too-many = La lista tiene más de { $most } entradas. No se comparó nada.
workshops-compared = Tu lista
workshops-not-launched = Sin iniciar
workshops-unreadable = No es una dirección de correo electrónico
workshops-instances = Talleres actuales
workshops-empty = Ahora no hay talleres de esta plantilla.
workshops-part = Esta página muestra { $shown } de { $all } talleres.
workshops-first = Primera página
workshops-result = Prolongación hasta { $value }
workshops-extended = Prolongado hasta { $value }
workshops-shortened = Prolongado solo hasta { $value }, su duración máxima
workshops-unchanged = Sin cambios: finaliza a esta hora: { $value }
workshops-count-extended = Prolongados
workshops-count-shortened = Prolongados hasta el máximo
workshops-count-unchanged = Sin cambios
workshops-count-refused = No prolongados
workshops-nothing-ready = Ningún taller está listo. No se ha prolongado nada.
workshops-back = Volver a los talleres
workshops-until-invalid = Elige una hora de la lista.

material-trouble-count = Problema con el material del curso
