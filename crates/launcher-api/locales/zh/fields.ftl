### Labels and hints of the fields in the template editor.

field-shown = 目录条目
field-run = 应用
field-used = 资源
field-lasting = 使用时长

field-name = 名称
    .hint = 1 至 80 个字符。
field-description = 说明
    .hint = Markdown，最多 4000 个字符。卡片显示开头几行。
field-active = 在目录中
    .hint = 用户可以启动它。移出目录后，运行中的实验环境会继续运行。
field-app-type = 应用类型
field-image = 镜像
    .hint = 例如 quay.io/jupyter/base-notebook:latest。
field-port = 端口
    .hint = 应用监听的端口。留空时：RStudio 为 8787，Jupyter 为 8888。Web 应用必须填写。
field-command = 命令
    .hint = { field-words }
field-arguments = 参数
    .hint = { field-words }
field-environment = 环境变量
    .hint = 每行一个 NAME=value。如果值包含换行，请写成 JSON 字符串：KEY="a\nb"。启动此实验环境的所有人都能读取这些值，请勿在此填写密码等机密信息。
field-security-profile = 安全配置
field-cpu-request = CPU 请求
    .hint = 为实验环境预留。留空时为 100m。
field-cpu-limit = CPU 限制
    .hint = 实验环境可用的最大值。留空时为 2。
field-memory-request = 内存请求
    .hint = 为实验环境预留。留空时为 256Mi。
field-memory-limit = 内存限制
    .hint = 实验环境可用的最大值。留空时为 2Gi。
field-lifetime = 使用时长（秒）
    .hint = 从就绪到结束的时间。留空时为 7200（两小时）。
field-extension = 单次延长（秒）
    .hint = 每次延长增加的时间。留空时为 3600（一小时）。
field-longest = 最长使用时长（秒）
    .hint = 延长后也不能超过此值。留空时为 28800（八小时）。

field-words = 每行一项。$(PORT) 代表应用的端口。如果某项包含换行，或者开头或结尾有空格，请写成 JSON 字符串："a\nb"。
