### The small page that extends a workshop, which the bar above a workshop opens.

extend-title = تمديد { $name }
ends-at = وقت الانتهاء: { $value }.
extended = تم تمديد الورشة.
cannot-extend = هذه الورشة ليست قيد التشغيل، لذا لا يمكن تمديدها.
close-window = إغلاق هذه النافذة
