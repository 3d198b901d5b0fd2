### Texts of the list of templates, and of the editor.

editor-new-template = 新建模板
editor-in-catalog = 在目录中
editor-yes = 是
editor-archived = 已归档
editor-changed = 修改时间
editor-actions = 操作
editor-edit = 编辑
editor-duplicate = 创建副本
editor-archive = 归档
editor-restore = 恢复
editor-all-templates = 所有模板
editor-create = 创建模板
editor-save = 保存更改
editor-show-preview = 预览
editor-save-and-try = 保存并试用
editor-cancel = 取消
editor-preview-title = 预览
editor-preview = 尚未保存任何内容。下方是目录中的卡片和模板页面。
editor-conflict-title = 在您编辑期间，另一位管理员修改了此模板。
editor-conflict = 您的更改尚未保存，仍保留在下方表单中。如需查看对方的更改，请在另一个标签页中打开本页。如果再次保存，您的更改将覆盖对方的更改。
editor-form-has-errors = 未保存任何内容。请更正以下字段：
editor-not-a-kind = 请从列表中选择应用类型。
editor-not-a-profile = 请从列表中选择安全配置。
editor-not-a-storage = 请从列表中选择。
editor-not-a-number = 请输入整数。
editor-created-by = 由 { $author } 创建
editor-the-service = 系统
editor-copy-of = { $name } 的副本
editor-wrong-word = 第 { $number } 项：{ $wrong }
editor-wrong-entry = 第 { $number } 条：{ $wrong }

editor-second-time = 另一行已设置 { $name }。每个变量只能设置一次。

editor-presets = 从以下应用开始
editor-preset-source = { $name } 的文档
editor-preset-no-image = 没有公开的镜像。请用此 Dockerfile 构建镜像，推送到您的镜像仓库，并将其名称填入“镜像”字段。Dockerfile 旁边的文件会成为应用的文件。
preset-jupyterlab = JupyterLab
preset-rstudio = RStudio
preset-vscode = VS Code
preset-marimo = marimo
preset-streamlit = Streamlit
preset-gradio = Gradio
preset-shiny = Shiny for Python
preset-dash = Dash
preset-panel = Panel
preset-voila = Voila
preset-terminal = 终端
preset-desktop = 桌面
preset-web = Web 应用

editor-not-yaml = 第 { $line } 行不是 YAML：{ $message }
editor-not-a-yaml-object = 请写一个包含 metadata 和 spec 字段的 YAML 对象。
editor-not-a-size = 请填写大小及其单位，例如 512 MB、10 GB 或 2 GiB。
editor-not-a-gpu-count = 请输入 0 到 { $most } 之间的整数。
editor-not-a-secret-name = 请填写一个 Secret 的名称：小写字母、数字、连字符和英文句点。
editor-not-a-label = 第 { $line } 行不是标签。请写成 key=value。
editor-repeated-label = 第 { $line } 行重复了键 { $name }。每个键只能写一次。
editor-set-in-yaml = “Pod 模板”字段中也有 { $setting }。请在那里删除，或清空此字段。
editor-not-a-list = 请写成 shell 命令行，或写成由字符串组成的 JSON 列表，例如 ["sh", "-c", "…"]。
editor-not-an-icon = 请从列表中选择图标。
editor-not-a-color = 请从列表中选择颜色。
editor-saved = 已保存。请将此链接发给学生：
editor-by-link = 仅通过链接启动

image-ready = 镜像已在此服务器上就绪
image-missing = 此服务器上没有镜像
image-pulling = 正在下载镜像
image-failed = 镜像未能下载

image-pulling-percent = 正在下载：{ $percent }%
image-unpacking = 正在解压已下载的镜像

image-download = 立即下载

image-retry = 重试

image-begun-title = 正在下载镜像。

image-begun = 即使您离开此页面，{ $name } 的镜像下载也会继续。

image-check-template = 请检查模板中镜像的名称和标签。镜像仓库必须允许无需登录即可下载。
image-check-registry = 请检查服务器能否访问镜像仓库，然后重试。
image-check-disk = 请从服务器上删除不再使用的镜像，然后重试。

editor-more = 更多

editor-remove = 移除
editor-check = 检查

editor-short-link = 给班级的链接：

editor-not-in-list = 请从列表中选择一项。

editor-not-decimal = 请输入数字，例如 12 或 0.5。

editor-found-files = { $files } 个文件，{ $size }

editor-found-branch = 已找到：分支 { $ref }，提交 { $version }
editor-found-commit = 已找到：提交 { $version }
editor-found-archive = 已找到：归档文件

editor-joined-facts = { $first }，{ $second }。

editor-check-busy = 其他检查正在进行。请半分钟后重试。
editor-check-failed = 无法检查此地址。请重试，或保存模板后试用。

editor-unfound-title = 尚未保存：未找到课程资料。
editor-unfound = 请更正下面的地址。也可以仍然保存模板：其实验环境启动时将没有这些文件。
editor-save-anyway = 仍然保存

editor-size = 规格
editor-size-figures = { $cpu_request } 到 { $cpu_limit } CPU，{ $memory_request } 到 { $memory_limit } 内存
editor-size-other = 其他
editor-size-other-figures = 以“{ editor-more }”中的数值为准
size-small = 小
size-medium = 中
size-large = 大

editor-class-images = 此班级允许这些镜像：{ $images }
