### The small page that extends a workshop, which the bar above a workshop opens.

extend-title = 延长 { $name }
ends-at = 结束时间：{ $value }。
extended = 实验环境已延长。
cannot-extend = 此实验环境未在运行，无法延长。
close-window = 关闭此窗口
