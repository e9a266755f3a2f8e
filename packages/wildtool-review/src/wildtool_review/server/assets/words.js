// Texts of the pages in English and Chinese, and the elements that pages are made of. A text of an item is only ever the
// text of a node.
import { chinese } from "./messages.js";

export const { make, visible, long } = wildtool.texts;

// Before and after: marked by character where most of it stayed, as a whole where the text was written again.
export function beside(before, after) {
  const kept = wildtool.texts.differ(before.slice(0, 4000), after.slice(0, 4000))[0].reduce((sum, [part, same]) => sum + (same ? part.length : 0), 0);
  if (!before || !after || 2 * kept >= Math.max(before.length, after.length)) return wildtool.texts.beside(before, after);
  return [["del", before], ["ins", after]].map(([tag, text]) => {
    const node = make("div", "whole"), mark = make(tag);
    mark.append(long(text));
    node.append(mark);
    return node;
  });
}

const CHINESE = {
  "Skip to the content": "跳到内容", "Pages": "页面", "Queue": "队列", "Figures": "统计", "Language": "语言",
  "Sign in": "登录", "Sign out": "退出", "Personal token": "个人令牌",
  "Ask the owner of the review for a token: wildtool review people add": "请向负责人索取令牌：wildtool review people add",
  "all": "全部", "mine": "我的", "open": "审核中", "conflicts": "冲突", "stale": "待复查", "warnings": "有规则提示",
  "graph": "依赖图存疑", "unchecked": "未检查", "audit": "抽样", "approved": "已通过",
  "generated": "已生成", "rules passed": "规则通过", "judged": "已评判", "in review": "审核中", "rejected": "已拒绝",
  "any type": "所有类型", "any subtype": "所有子类型", "any domain": "所有领域", "any rule": "所有规则",
  "any stage": "所有阶段", "any round": "所有轮次", "anyone": "所有人", "any confidence": "任意置信度",
  "Find": "查找", "id or text": "编号或文本", "Round {0}": "第 {0} 轮", "{0} of {1} items": "{1} 项中的 {0} 项", "Show more": "显示更多",
  "below {0} %": "低于 {0} %",
  "Nothing in this queue.": "此队列为空。", "Show all items": "显示全部", "Clear filters": "清除筛选",
  "{0} findings": "{0} 条规则提示", "1 finding": "1 条规则提示", "{0} stale tasks": "{0} 个任务待复查",
  "conflict": "冲突", "yours": "待我审核", "confidence {0} %": "置信度 {0} %",
  "Previous": "上一项", "Next": "下一项", "{0} of {1}": "第 {0} 项，共 {1} 项", "version {0}": "第 {0} 版",
  "your own copy": "您的副本", "Task {0}": "任务 {0}", "type": "类型", "subtype": "子类型",
  "the graph says {0}": "依赖图推断为 {0}", "User": "用户", "Assistant": "助手", "asks": "提问", "answers": "回答",
  "observation": "观测结果", "no arguments": "无参数", "arguments": "参数", "plan and notes of the maker": "生成者的计划与备注",
  "Edit": "编辑", "Save": "保存", "Cancel": "取消", "Remove": "删除", "Add an argument": "添加参数", "Name": "名称",
  "Remove this call": "删除此调用", "Add a call": "添加调用", "Edit all steps as JSON": "以 JSON 编辑所有步骤",
  "Edit the arguments as JSON": "以 JSON 编辑参数", "All values are JSON: texts in quotes.": "值均为 JSON：文本须加引号。",
  "before step {0}": "在第 {0} 步之前", "Tools": "工具", "required": "必填", "Rules": "规则",
  "The rules found nothing.": "规则未发现问题。", "The rules still read this long item …": "这一项很长，规则仍在检查……", "The rules have not run.": "规则尚未运行。",
  "History": "历史", "Nothing has happened yet.": "暂无记录。", "Dependency graph": "依赖图",
  "Click an edge, or choose what each step needs below.": "点击边，或在下方选择每一步所依赖的步骤。",
  "step {0} needs": "第 {0} 步依赖", "nothing": "无", "Valid orders": "有效顺序", "at least {0} steps": "最少 {0} 步",
  "{0} valid orders": "{0} 种有效顺序", "more than {0} valid orders": "超过 {0} 种有效顺序", "1 valid order": "1 种有效顺序",
  "The graph has a cycle: no order is valid.": "依赖图有环：没有有效顺序。",
  "inferred, not written": "推断所得，未写入", "written": "已写入", "confidence": "置信度",
  "Candidates": "候选", "Choose": "选用", "Merge": "合并", "Other parts": "其他部分", "Data": "数据",
  "Approve": "通过", "Reject": "拒绝", "Discuss": "讨论", "Remark": "备注", "Add a remark": "添加备注",
  "Reason": "理由", "Reasons": "理由", "You decided: {0}": "您的决定：{0}", "approve": "通过",
  "approve with edits": "修改后通过", "reject": "拒绝", "discuss": "讨论",
  "Choose at least one reason.": "请至少选择一个理由。",
  "This item {0}. You can read it.": "此项{0}，您可以阅读。", "waits for an adjudicator": "等待仲裁",
  "is under review by others": "正由他人审核", "you take no part in this review": "您未参与此审核",
  "An earlier task or the twin was changed. Check these tasks again: {0}": "前面的任务或其双语版本已修改，请复查任务：{0}", "twin": "双语版本",
  "Checked again": "已复查", "Conflict": "冲突", "one approves, one rejects": "一人通过，一人拒绝",
  "the edits differ": "修改不一致", "sent to discussion": "已提交讨论",
  "merged files contradict each other": "合并的文件互相矛盾",
  "Select the edits that the item takes.": "请选择要采纳的修改。", "before": "修改前", "after": "修改后",
  "excludes another edit": "与另一处修改互斥", "Approve with the selected edits": "采纳所选修改并通过",
  "Reject the item": "拒绝此项", "nobody edited": "无人修改",
  "Saved.": "已保存。", "Saved. {0} findings.": "已保存。{0} 条规则提示。", "Approve anyway": "仍然通过", "Take back the decision": "撤回决定", "withdraw": "撤回",
  "{0}: you have no decision here that can be taken back": "{0}：此处没有可撤回的决定", "Go to the next item after a decision": "决定后转到下一项",
  "Not approved, since a release would refuse it: {0}: {1}": "未通过，因为发布会拒绝它：{0}：{1}", "The review of this item has ended: {0}": "此项审核结束：{0}",
  "approved as it is now": "按现状通过",
  "Somebody else saved this meanwhile": "他人在此期间已保存",
  "You saved this in another tab meanwhile": "您在此期间已在另一个标签页中保存", "Neither text is lost. What should the item have?": "两个文本都没有丢失。此项应采用哪一个？",
  "Saved in the other tab": "另一个标签页中保存的", "Typed here": "在此输入的", "Save what was typed here": "保存在此输入的", "Edit it further": "继续修改",
  "the rules still read this item, which is long; try again when they are done": "此项很长，规则仍在检查；请待其完成后再试",
  "Nothing of theirs or yours is lost. What should the item have?": "双方的内容都没有丢失。此项应采用哪一个？",
  "Saved by someone else": "他人保存的内容", "Yours": "您的内容", "Save mine": "保存我的", "Take theirs": "采用他人的",
  "Edit mine further": "继续编辑我的", "Quality by round": "各轮质量", "published": "已发表", "this review": "本次审核",
  "round": "轮次", "When to stop": "何时结束", "The review may stop.": "审核可以结束。",
  "Not yet: the review goes on.": "尚不能结束，审核继续。", "{0} of {1} items were reviewed": "已审核 {1} 项中的 {0} 项",
  "open conflicts: {0}": "未解决的冲突：{0}", "errors in the last round: {0}": "最近一轮的错误：{0}",
  "the last round has not ended": "最近一轮尚未结束", "no round yet": "尚无轮次",
  "One reviewer per item is enough, as the set says.": "按数据集的设定，每项一名审核员即可。",
  "Zero errors in one round still allow a true rate of {0} %.": "一轮零错误时，真实错误率仍可能达 {0} %。",
  "figure": "指标", "value": "值", "95 % interval": "95 % 区间", "counts": "计数",
  "items": "项目", "quality by round": "各轮质量", "stop rule": "结束规则", "agreement": "一致性", "precision of warnings": "规则提示的精确率",
  "Open a round": "开启一轮", "Close round {0}": "关闭第 {0} 轮", "share": "比例", "seed": "种子", "people": "人员", "Open": "开启",
  "Keyboard": "键盘", "Close": "关闭", "this help": "本帮助", "the queue": "队列", "figures": "统计",
  "next part, or next row": "下一部分或下一行", "previous part, or previous row": "上一部分或上一行",
  "edit the part, or open the row": "编辑该部分或打开该行", "save": "保存", "cancel": "取消",
  "next item": "下一项", "previous item": "上一项", "approve the item": "通过此项", "reject: choose reasons": "拒绝：选择理由",
  "send to discussion": "提交讨论", "stale tasks are checked": "待复查任务已复查", "next finding": "下一条规则提示",
  "history": "历史", "filter": "筛选", "on an edge: add or remove it": "在边上：添加或删除", "write a remark": "写备注",
  "Recorded runs": "已记录的运行", "Accept": "采纳", "right": "正确", "wrong": "错误", "unknown": "未知", "model": "模型", "task": "任务",
  "The server does not answer. Is `wildtool review` still running?": "服务器没有响应。`wildtool review` 还在运行吗？",
  "The rules run: {0} of {1} items are checked.": "规则运行中：已检查 {1} 项中的 {0} 项。", "The rules stopped: {0}": "规则已停止：{0}",
  "Too many wrong tokens. Try again in a minute.": "错误的令牌过多，请一分钟后再试。",
  "Internal error. The terminal in which the server runs names its place.": "内部错误。运行服务器的终端中显示了出错位置。",
  "Sign in first.": "请先登录。", "There is no such thing to ask for.": "没有这样的请求。",
  "This token is nobody's. Ask for a new one: wildtool review people add": "此令牌不属于任何人。请索取新令牌：wildtool review people add",
  "This server has another name. Use the address that it printed.": "此服务器使用另一个名称。请使用它显示的地址。",
  "Open the whole address that this server printed when it was started; it ends in ?token=…. Each start prints a new one.": "请打开此服务器启动时显示的完整地址；它以 ?token=… 结尾。每次启动都会显示新的地址。",
  "Other sites may not link here. Type the address yourself.": "其他网站不得链接到此处。请自行输入地址。",
  "Expected JSON.": "应为 JSON。", "Expected one JSON object, not too large.": "应为一个不过大的 JSON 对象。", "This is too long to be saved.": "内容过长，无法保存。",
  "The review cannot be saved: {0}": "无法保存审核：{0}", "only adjudicators see who reviews what": "只有仲裁员能看到谁审核什么",
  "candidate: expected its position, or null for a merged text": "candidate：应为候选的序号，合并的文本则为 null",
  "only arguments of calls have alternatives": "只有调用的参数才有可接受的其他值", "this value is accepted already": "此值已被接受",
  "there is no such value to remove": "没有可删除的此值",
  "no edit is proposed there": "此处没有建议的修改", "{0}: that is no longer proposed": "{0}：该建议已不存在",
  "{0}: expected a text": "{0}：应为文本", "{0}: expected a list of texts": "{0}：应为文本列表", "{0}: expected a whole number": "{0}：应为整数", "{0}: expected a number from 0 to 1": "{0}：应为 0 到 1 之间的数",
  "there is no step {0} to remove": "没有可删除的第 {0} 步", "there is no step {0} to put one before": "没有第 {0} 步，无法在其前添加",
  "{0} is no JSON pointer; expected one like /english_tasks/0": "{0} 不是 JSON 指针；应如 /english_tasks/0",
  "{0} is not what this change replaces; read the item again": "{0} 已不是要替换的内容；请重新读取此项", "the item": "此项",
  "{0} and {1} exclude each other: take only one of these edits": "{0} 与 {1} 互斥：只能采纳其中一处修改",
  "{0} has no such version to restore": "{0} 没有可恢复的此版本",
  "{0}: only members of objects can be added or removed; replace the whole list": "{0}：只能添加或删除对象的成员；请替换整个列表",
  "a sample is a share above 0 and at most 1 of the items, not {0}": "抽样比例须大于 0 且不超过 1，而不是 {0}",
  "{0} reviewers per item need at least that many people; {1} are named": "每项 {0} 名审核员至少需要同样多的人；只选了 {1} 人",
  "{0} has changed since you read it; compare, and save again": "{0} 在您阅读后已更改；请比较后再次保存",
  "there is no item {0} in this review": "此审核中没有 {0} 这一项",
  "an earlier task or the twin was changed: check task {0} again before you approve": "前面的任务或其双语版本已修改：通过之前请复查任务 {0}",
  "a conflict ends with approve or reject, not with {0}": "冲突只能以通过或拒绝结束，不能是 {0}", "{0} has no open conflict": "{0} 没有未解决的冲突",
  "there is nothing to draw: every item is in a review that has not ended": "没有可抽取的项目：所有项目都在未结束的审核中",
  "round {0} is not open": "第 {0} 轮未开启", "round {0} has {1} items without a result, such as {2}": "第 {0} 轮有 {1} 项没有结果，例如 {2}",
  "{0}: this item {1}": "{0}：此项{1}", "this takes the role {0}; {1} is only {2}": "这需要{0}的角色；{1} 只是{2}",
  "this takes the role {0}; {1} is not in this review": "这需要{0}的角色；{1} 未参与此审核", "reviewer": "审核员", "adjudicator": "仲裁员", "owner": "负责人",
  "say why it is rejected; reasons are: {0}": "请说明拒绝的理由，可选：{0}",
  "somebody else changed the same at the same time; try again": "他人同时修改了同一内容；请重试",
  "Not JSON: {0}": "不是 JSON：{0}", "Loading …": "加载中…", "{0} others review it too": "另有 {0} 人审核", "1 other reviews it too": "另有 1 人审核",
  "Saving …": "正在保存…", "Undo": "撤销", "Undone.": "已撤销。", "Discarded.": "已放弃。", "Asked for.": "已请求。", "not saved": "未保存",
  "Saved, with new findings. Look at them before you decide.": "已保存，但有新的规则提示。请先查看再决定。",
  "Your save before this one changed what it is about. Look again, and repeat it.": "您上一次的保存已改变此处的内容。请查看后重试。",
  "This was changed after you typed it. It is now: {0}": "您输入之后此处已被更改，现为：{0}",
  "Typed and not saved:": "已输入但未保存：", "This text is not saved": "此文本尚未保存", "What should become of it?": "如何处理？",
  "Keep as a draft": "保留为草稿", "Restore this version": "恢复此版本", "undo your last change": "撤销上一次更改", ", ": "、",
  "unnatural user text": "用户语句不自然", "wrong type": "类型错误", "wrong subtype, or the context is not needed": "子类型错误或不需要上下文",
  "the tool does not fit the request": "工具与请求不符", "a call is missing, or one too many": "缺少或多余调用",
  "wrong order or dependency": "顺序或依赖错误", "wrong argument value or type, or one that nobody gave": "参数值或类型错误，或无依据",
  "should have asked": "应当询问", "should not have asked": "不应询问", "ends too early, or a call is redundant": "过早结束或调用冗余",
  "implausible or inconsistent observation": "观测结果不合理或不一致", "the answer is unfaithful to the results": "回答与结果不符",
  "a tool's definition is defective": "工具定义有缺陷", "repeats another item": "与其他项重复", "contains personal data": "含个人数据",
  "import": "导入", "assign": "分配", "edit": "编辑", "choose": "选用候选", "decision": "决定", "settle": "达成一致", "resolve": "仲裁", "recheck": "复查", "note": "备注", "propose": "提议", "discard": "弃用",
  "Kinds of dependencies ({0} set)": "依赖的种类（已设 {0} 个）", "inferred: {0}": "推断：{0}", "not set": "未设",
  "barrier": "屏障", "argument": "参数", "logical": "逻辑", "control": "条件",
  "{0} makes parts of this item again …": "{0} 正在重新生成此项的部分内容…", "Make this result again with {0}": "用 {0} 重新生成此结果", "from task {0}": "从任务 {0} 起",
  "Make tasks again with {0}": "用 {0} 重新生成任务", "keep the user's requests": "保留用户的请求", "First task": "首个任务",
  "Make again": "重新生成", "this item is being made again": "此项正在重新生成",
  "{0} items are being made again; wait for one of them": "{0} 项正在重新生成，请等待其中一项", "cannot start: {0}": "无法启动：{0}",
  "no model is named here; start the review with --model": "此处未指定模型，请用 --model 启动审核",
  "only an owner has tasks made again here, since that costs money": "此处只有所有者能让模型重做任务，因为这要花钱",
  "1 proposal": "1 个提议", "{0} proposals": "{0} 个提议", "now": "当前", "Take the selected parts": "采用所选部分",
  "Select at least one part.": "请至少选择一个部分。", "chosen": "已选用",
  "Proposed by": "提议者：", "Discard": "弃用",
  "or": "或", "left out": "省略", "No longer accept": "不再接受",
  "Accept another value of {0}": "接受 {0} 的其他值", "It may be left out": "可以省略",
  "Accept beside gold": "与标准答案并列接受", "Replace gold": "替换标准答案",
  "read": "已读", "unread": "未读", "proposed: {0}": "建议：{0}", "any label": "任意标签", "id, unit or class": "编号、单元或类别", "Cases": "案例",
  "{0} of {1} cases, drawn from {2} failures": "{0} / {1} 个案例，抽自 {2} 个失败",
  "You have read all cases.": "您已读完所有案例。", "No case fits.": "没有符合的案例。", "proposed by a rule": "规则建议", "Labels": "标签", "Note": "备注",
  "What the labels mean": "标签的含义", "Step {0}, which decided": "起决定作用的第 {0} 步", "The last reply": "最后的回答",
  "No reply is recorded.": "没有记录到回答。", "no class": "无类别", "Why it is wrong": "为何错误", "Conversation": "对话",
  "Other rules and tools": "其他规则与工具", "{0} tools": "{0} 个工具", "Saved: {0}": "已保存：{0}", "You saved this case in another window": "您已在另一窗口保存此案例",
  "Take what is saved": "采用已保存的", "Cases read": "已读案例", "Nobody has read any case yet.": "尚无人读过案例。", "give or take back a label": "添加或取消标签",
  "write a note": "写备注", "save, and open the next unread case": "保存并转到下一个未读案例", "next case": "下一案例", "previous case": "上一案例", "Next case": "下一案例",
  "Previous case": "上一案例", "the list of cases": "案例列表",
  "Other failures of this run were drawn meanwhile. Start `wildtool review` again.": "此运行已另行抽取了失败案例。请重新启动 `wildtool review`。",
  "{0} is no label of this list": "{0} 不是此列表中的标签", "You have said something else of this case in another window.": "您在另一窗口中对此案例另有判断。",
  "there is no list of cases {0}": "没有案例列表 {0}", "there is no case {0}": "没有案例 {0}", "no label fits": "没有合适的标签",
};

const remembered = (action) => { try { return action(localStorage); } catch { return null; } };
let language = remembered((s) => s.getItem("wildtool-language")) || (navigator.language || "en").slice(0, 2);

// A text of the interface in the reader's language; {0}, {1} … are filled in.
export function t(text, ...values) {
  const found = language === "zh" && Object.hasOwn(CHINESE, text) ? CHINESE[text] : text;
  return found.replace(/\{(\d)\}/g, (_, index) => String(values[index]));
}

// What rules and figures say of an item, which is made of a pattern and of what it is said of.
export function tell(message) {
  if (language !== "zh") return message;
  if (Object.hasOwn(CHINESE, message)) return CHINESE[message];
  const [text, values] = chinese(message) || [message, []];
  return values.length ? text.replace(/\{(\d)\}/g, (_, index) => tell(values[index])) : text;
}
wildtool.tell = tell;

export function showLanguage() {
  document.documentElement.lang = language === "zh" ? "zh-CN" : "en";
  wildtool.labelTheme();
  const button = document.getElementById("language");
  button.textContent = language === "zh" ? "English" : "中文";
  button.lang = language === "zh" ? "en" : "zh";
  for (const node of document.querySelectorAll("[data-t]")) {
    node.dataset.t = node.dataset.t || node.textContent;
    node.textContent = t(node.dataset.t);
  }
}

export function switchLanguage() {
  language = language === "zh" ? "en" : "zh";
  remembered((s) => s.setItem("wildtool-language", language));
  showLanguage();
}

export function button(text, action, classes = "plain") {
  const made = make("button", classes, text);
  made.type = "button";
  made.addEventListener("click", action);
  return made;
}

export function link(text, address, classes = "") {
  const made = make("a", classes, text);
  made.href = address;
  return made;
}

// A control with its name.
export function labelled(name, control, classes = "") {
  const made = make("label", classes, `${name} `);
  made.append(control);
  return made;
}

export function choice(values, chosen, names = (value) => value) {
  const made = make("select");
  for (const value of values) {
    const option = make("option", "", names(value));
    option.value = value;
    option.selected = value === chosen;
    made.append(option);
  }
  return made;
}

// Texts of people and models: any direction.
export function said(text, tag = "div", classes = "said") { return long(text, tag, classes); }
export function bdi(text, classes = "") { return make("bdi", classes, text); }
