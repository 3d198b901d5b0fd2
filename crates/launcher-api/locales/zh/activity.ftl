### Texts of the activity log.

person = 用户
activity-list = 活动日志，最新的在前
no-activity = 没有找到活动记录。
not-a-person = 这不是电子邮件地址。列表显示的是所有人的活动。

activity-launched = { $actor } 启动了 { $subject }。
activity-launched-for = { $actor } 启动了 { $owner } 的 { $subject }。
activity-extended = { $actor } 将 { $subject } 延长至 { $until }。
activity-extended-for = { $actor } 将 { $owner } 的 { $subject } 延长至 { $until }。
activity-extended-beyond-maximum = { $actor } 将 { $subject } 延长至 { $until }，超出最长使用时长 { $duration }。
activity-extended-beyond-maximum-for = { $actor } 将 { $owner } 的 { $subject } 延长至 { $until }，超出最长使用时长 { $duration }。
activity-maximum-raised = { $actor } 将 { $subject } 的最长使用时长提高到 { $duration }。
activity-maximum-raised-for = { $actor } 将 { $owner } 的 { $subject } 的最长使用时长提高到 { $duration }。
activity-restarted = { $actor } 重新启动了 { $subject }。
activity-restarted-for = { $actor } 重新启动了 { $owner } 的 { $subject }。
activity-suspended = { $actor } 暂停了 { $subject }。
activity-suspended-for = { $actor } 暂停了 { $owner } 的 { $subject }。
activity-resumed = { $actor } 恢复了 { $subject }。
activity-resumed-for = { $actor } 恢复了 { $owner } 的 { $subject }。
activity-ended = { $actor } 结束了 { $subject }。
activity-ended-for = { $actor } 结束了 { $owner } 的 { $subject }。
activity-failed = { $actor } 将 { $subject } 标记为失败。
activity-failed-for = { $actor } 将 { $owner } 的 { $subject } 标记为失败。
activity-dismissed = { $actor } 移除了失败的 { $subject }。
activity-dismissed-for = { $actor } 移除了 { $owner } 失败的 { $subject }。
activity-template-created = { $actor } 创建了模板 { $subject }。
activity-template-changed = { $actor } 修改了模板 { $subject }。
activity-template-changed-fields = { $actor } 修改了模板 { $subject }：{ $fields }。
activity-joined = { $first }、{ $second }
activity-template-archived = { $actor } 归档了模板 { $subject }。
activity-template-restored = { $actor } 恢复了模板 { $subject }。
activity-class-created = { $actor } 创建了班级 { $subject }。
activity-class-changed = { $actor } 更改了班级 { $subject }。
activity-join-link-created = { $actor } 创建了班级 { $subject } 的加入链接。
activity-join-link-revoked = { $actor } 撤销了班级 { $subject } 的加入链接。
activity-class-message-sent = { $actor } 向班级 { $subject } 发送了一条消息。
activity-member-added = { $actor } 加入了班级 { $subject }。
activity-member-added-for = { $actor } 将 { $owner } 加入了班级 { $subject }。
activity-member-changed = { $actor } 在班级 { $subject } 获得了其他角色。
activity-member-changed-for = { $actor } 更改了 { $owner } 在班级 { $subject } 的角色。
activity-member-removed = { $actor } 离开了班级 { $subject }。
activity-member-removed-for = { $actor } 将 { $owner } 移出了班级 { $subject }。
activity-volume-deleted = { $actor } 删除了 { $subject } 已保存的工作。
activity-volume-deleted-for = { $actor } 删除了 { $owner } 在 { $subject } 中已保存的工作。
activity-files-downloaded = { $actor } 下载了 { $subject } 已保存的工作。
activity-files-downloaded-for = { $actor } 下载了 { $owner } 在 { $subject } 中已保存的工作。
downloads-by-others = 管理员对您的文件的下载

activity-service = 系统

activity-ended-alone = { $owner } 的 { $subject } 已结束。
activity-ended-alone-why = { $owner } 的 { $subject } 已结束：{ $reason }。
activity-suspended-alone = { $owner } 的 { $subject } 已暂停，因为时间已用完。
activity-failed-alone = { $owner } 的 { $subject } 失败。
activity-failed-alone-why = { $owner } 的 { $subject } 失败：{ $reason }。
