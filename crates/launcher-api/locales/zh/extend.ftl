### The small page that extends a workshop, which the bar above a workshop opens.

extend-title = 延长 { $name }
ends-at = 结束时间：{ $value }。
extended = 实验环境已延长。
cannot-extend = 此实验环境未在运行，无法延长。
close-window = 关闭此窗口

beyond-button = 超出最长时长延长
beyond-title = 超出最长时长延长 { $name }
beyond-question = 要将 { $name } 延长到超出其最长使用时长吗？
beyond-warning = 将增加 { $added }。此实验环境的最长使用时长为 { $longest }。活动日志会显示谁超出了时长以及超出多少。
beyond-cancel = 不延长
bulk-beyond-question = 要将 { $count } 个实验环境延长到超出其最长使用时长吗？
bulk-beyond-warning = 活动日志会显示谁超出了最长使用时长以及超出多少。
at-maximum = { $count } 个实验环境会提前结束，因为已达到最长使用时长。
beyond-until = 超出最长时长，延长至 { $value }
maximum-title = { $name } 的最长使用时长
maximum-question = 要将 { $longest } 的最长使用时长应用到 { $count } 个当前实验环境吗？
maximum-warning = { $name } 已保存。新的实验环境使用新的最长使用时长。之前启动的实验环境保留较短的时长，除非您应用新的时长。实验环境的结束时间不会因此改变。
maximum-button = 应用到当前实验环境
maximum-cancel = 仅用于新的实验环境
maximum-raised = { $count } 个实验环境已使用新的最长使用时长。
maximum-raised-text = 现在可以延长到新的最长使用时长。
