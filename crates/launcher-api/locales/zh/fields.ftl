### Labels and hints of the fields in the template editor.

field-shown = 目录条目
field-run = 应用
field-used = 资源和时长
field-command-line = 应用启动设置

field-pod = Kubernetes 上的 Pod

field-name = 名称
    .hint = 1 至 80 个字符。
field-description = 说明
    .hint = Markdown，最多 4000 个字符。卡片显示开头几行。
field-icon = 图标
field-color = 颜色
field-tags = 标签
    .hint = 便于查找模板的关键词，最多 8 个，用逗号分隔。
field-active = 可启动
    .hint = 取消勾选后，运行中的实验环境会继续运行。
field-unlisted = 仅通过链接启动
    .hint = 模板不在目录中显示。拥有链接的所有人都可以启动它。
field-app-type = 应用类型
field-image = 镜像
    .hint = 例如 quay.io/jupyter/base-notebook:latest。
field-port = 端口
    .hint = 应用监听的端口。留空时：RStudio 为 8787，Jupyter 为 8888。Web 应用必须填写。
field-start-path = 起始路径
    .hint = 应用首页的路径，例如 /vnc.html?autoconnect=1。留空：/。

field-plain-tabs = 其他标签页不显示顶栏
    .hint = 应用在其他浏览器标签页中打开的页面不显示带有剩余时间的顶栏。仅当这些页面在顶栏下无法正常工作时才勾选。

field-command = 命令
    .hint = { field-words }留空时使用镜像自带的命令。
field-arguments = 参数
    .hint = { field-words }留空时使用镜像自带的参数。
field-environment = 环境变量
    .hint = 启动实验环境的每个人都能读取这些值。请勿在此填写密钥。值可以包含 $(PORT)、$(HOST) 和 $(ORIGIN)。
field-security-profile = 安全配置
field-files = 文件
field-storage = 结束后
    .hint = 保留的文件：同一用户下次启动可继续使用。不保留的文件：应用崩溃会立即删除它们，除非选择崩溃时仍保留。此时启动会多花几秒。
    .hint-of-machine = 保留的文件：同一用户下次启动可继续使用。不保留的文件在应用崩溃后仍会保留，结束时删除。
field-storage-size = 保留文件的空间
    .hint = 例如 5 GB。留空：1Gi。已有文件的空间不变。
field-storage-path = 保留文件的目录
    .hint = 例如 /home/jovyan。留空：标准镜像的主目录。其他应用必须填写目录。
field-storage-at-expiry = 时间用完时
    .hint = 已暂停的实验环境在其所有者恢复时，带着原有文件继续运行。需要保留文件。
field-material = 课程资料
field-material-sources = { field-material }
    .hint = git 仓库和归档文件。实验环境打开时，其文件已在其中。实验环境可以读取这些地址。请勿在此填写密码。
field-material-directory = 课程资料的目录
    .hint = 例如 /home/jovyan。留空：保留文件的目录，或标准镜像的主目录。其他应用必须填写目录。
field-material-repositories = 链接可以指定的仓库
    .hint = 每行一个地址，例如 https://git.example.org/statistics/。指向此模板的链接可以指定地址以此开头的仓库。留空：不允许。
field-asked = 启动时的问题
field-parameters = 问题
    .hint = 每次启动最多询问 10 个值。应用通过环境变量得到每个值。
field-pod-template = Pod 模板
    .hint = Pod 的其他设置，以 YAML 编写：Kubernetes PodTemplateSpec 的一部分，例如卷、来自 Secret 的变量、初始化容器或容忍度。保存时会加入上方各字段的设置，注释会丢失。
field-shm-size = 共享内存
    .hint = /dev/shm 的大小，例如 1 GB。已用部分计入应用的内存。留空时为 64 MiB。
field-gpu-count = NVIDIA GPU
    .hint = GPU 数量，例如 1。留空或填 0 表示不使用。
field-ephemeral-storage = 磁盘空间上限
    .hint = ephemeral-storage 的上限，例如 10 GB。超出上限的实验环境会被 Kubernetes 驱逐。留空时没有上限。
field-image-pull-secret = 镜像拉取 Secret
    .hint = 保存镜像仓库密码的 Secret 的名称。留空时使用此安装环境的 Secret。
field-node-selector = 节点选择器
    .hint = 每行一个 key=value。实验环境只在具有全部这些标签的节点上运行。
field-cpu-request = 预留 CPU
    .hint = 核数，例如 0.5。留空时为 100m。
field-cpu-limit = CPU 上限
    .hint = 核数，例如 2 或 0.5。留空时为 2。
field-memory-request = 预留内存
    .hint = 例如 512 MB。留空时为 256Mi。
field-memory-limit = 内存上限
    .hint = 例如 4 GB。留空时为 2Gi。
field-lifetime = 使用时长
    .hint = 从就绪到结束的时间，例如 2 h 或 90 min。留空时为 2 h。
field-extension = 单次延长
    .hint = 每次延长增加的时间，例如 1 h。留空时为 1 h。
field-longest = 最长使用时长
    .hint = 延长后也不能超过此值。留空时为 8 h。
field-slug = 短链接
    .hint = 链接 /go/name 中的名称，例如 statistics-101。2 至 40 个小写字母、数字和连字符。没有短链接的新模板会根据名称得到一个。

field-words = 写法与 shell 命令行相同：引号内的内容算作一项。$(PORT) 代表应用的端口。$(HOST) 和 $(ORIGIN) 代表实验环境的主机名和来源，例如 intro.example.org 和 https://intro.example.org。

field-resources = CPU 和内存

row-source = 来源 { $number }
    .add = 添加仓库
row-question = 问题 { $number }
    .add = 添加问题
row-variable = 变量 { $number }
    .add = 添加变量

part-url = 地址
    .hint = 仓库或归档文件，例如 https://git.example.org/statistics/101.git。
part-ref = 分支、标签或提交
    .hint = 留空：默认分支。仅用于仓库。
part-folder = 仅此文件夹
    .hint = 例如 week1。留空：所有文件。
part-target = 实验环境中的文件夹
    .hint = 留空：地址的末尾，例如 101。
part-sha256 = 归档文件的校验和
    .hint = SHA-256。“检查”按钮会自动填写。
part-secret = 密钥
    .hint = 用于私有来源：管理员创建的密钥的名称，不是密码。

part-label = 问题
part-kind = 答案类型
part-choices = 选项
    .hint = 每行一个。仅用于从列表中选择。
part-required = 必须回答
part-variable = 环境变量
    .hint = 留空：根据问题生成，例如 DATA_SET。
part-help = 帮助文字
part-default = 默认答案
    .hint = 不用于保密文本。
part-min = 最小值
    .hint = 仅用于数字。
part-max = 最大值
    .hint = 仅用于数字。
part-integer = 仅限整数
part-max-length = 最大长度
    .hint = 字符数。留空：200。仅用于文本。

part-name = 变量名
part-value = 值

answer-text = 文本
answer-choice = 从列表中选择
answer-number = 数字
answer-secret = 保密文本
