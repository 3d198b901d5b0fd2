### The small page that extends a workshop, which the bar above a workshop opens.

extend-title = Prolongar { $name }
ends-at = Termina: { $value }.
extended = El taller se ha prolongado.
cannot-extend = Este taller no está en ejecución, así que no se puede prolongar.
close-window = Cerrar esta ventana

beyond-button = Prolongar más allá del máximo
beyond-title = Prolongar { $name } más allá del máximo
beyond-question = ¿Prolongar { $name } más allá de su duración máxima?
beyond-warning = Se añaden { $added }. La duración máxima de este taller es de { $longest }. El registro de actividad muestra quién la superó y en cuánto.
beyond-cancel = No prolongar
bulk-beyond-question = { $count ->
    [one] ¿Prolongar 1 taller más allá de su duración máxima?
   *[other] ¿Prolongar { $count } talleres más allá de su duración máxima?
}
bulk-beyond-warning = El registro de actividad muestra quién superó la duración máxima y en cuánto.
at-maximum = { $count ->
    [one] 1 taller finaliza antes porque llegó a su duración máxima.
   *[other] { $count } talleres finalizan antes porque llegaron a su duración máxima.
}
beyond-until = Prolongar más allá del máximo hasta { $value }
maximum-title = Duración máxima de { $name }
maximum-question = { $count ->
    [one] ¿Aplicar la duración máxima de { $longest } a 1 taller actual?
   *[other] ¿Aplicar la duración máxima de { $longest } a { $count } talleres actuales?
}
maximum-warning = { $name } está guardado. Los talleres nuevos tienen la nueva duración máxima. Los talleres iniciados antes conservan la más corta, salvo que apliques la nueva. Ningún taller finaliza antes ni después por esto.
maximum-button = Aplicar a los talleres actuales
maximum-cancel = Solo a los talleres nuevos
maximum-raised = { $count ->
    [one] 1 taller tiene la nueva duración máxima.
   *[other] { $count } talleres tienen la nueva duración máxima.
}
maximum-raised-text = Ahora se pueden prolongar hasta el nuevo máximo.
