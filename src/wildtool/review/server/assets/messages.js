// What rules, the graph and figures say, in Chinese. The log has it in English; {0}, {1} … are what it is said of.
export const MESSAGES = {
  "schema": "结构", "tools": "工具", "nodes": "节点", "types": "类型", "grounding": "依据", "text": "文本", "official": "官方检查",
  "edges": "依赖边", "format": "格式", "rules": "规则", "duplicate": "重复", "json": "JSON", "unreadable": "无法读取",
  "gold official": "标准答案（官方规则）", "gold fixed": "标准答案（修正规则）", "lint schema": "结构",
  "missing answer": "缺少回答", "missing result": "缺少结果", "missing subtype": "缺少子类型", "missing date": "缺少日期",
  "unknown tool": "未知工具", "unreadable call": "无法读取的调用", "question": "提问", "left out": "省略",
  "reviewer": "审核员", "adjudicator": "仲裁员", "owner": "负责人", "resolved": "已仲裁",
  "Single-Tool": "单工具", "Parallel Multi-Tool": "并行多工具", "Sequential Multi-Tool": "顺序多工具", "Mixed Multi-Tool": "混合多工具",
  "Clarify": "澄清", "Chat": "闲聊", "First Turn": "首轮", "Partial Information": "部分信息", "Coreferential Reference": "指代", "Long-Range Dependency": "长程依赖",
  "same verdict": "相同结论", "Cohen's kappa, verdict": "结论的 κ（科恩）", "Krippendorff's alpha, verdict": "结论的 α（克里彭多夫）",
  "Krippendorff's alpha, reasons": "理由的 α（克里彭多夫）", "Cohen's kappa, type": "类型的 κ（科恩）", "Cohen's kappa, subtype": "子类型的 κ（科恩）",
  "edge F1": "依赖边的调和平均", "edit distance of rewrites": "改写的编辑距离", "same graph": "相同依赖图", "same candidate": "相同候选",
  "open conflicts": "未解决的冲突", "check": "规则检查", "stale": "待复查",
  "items reviewed": "已审核项目", "errors in the last round": "最近一轮的错误", "may stop": "可以结束",
  "similar": "相似", "plan": "计划", "difficulty": "难度",
  "as before entry {0}": "恢复为记录 {0} 之前的内容", "its twin {0} was edited": "其双语版本 {0} 已修改", "{0} % like the user text of task {1} in {2}": "与 {2} 中任务 {1} 的用户语句有 {0} % 相似",
  "… show all {0} characters": "… 显示全部 {0} 个字符",
  "Colours: as the system": "配色：跟随系统", "Colours: light": "配色：浅色", "Colours: dark": "配色：深色",
  "the rules fail on this item ({0})": "规则无法检查此项（{0}）",
  "{0} is a {1}, not a {2}": "{0} 是 {1}，而不是 {2}", "expected `YYYY-MM-DD HH:MM:SS Weekday`, found {0}": "应为 `YYYY-MM-DD HH:MM:SS Weekday`，实为 {0}",
  "it breaks off with {0}": "文本在 {0} 处中断", "differs from {0}; keep one list (Q01)": "与 {0} 不同；只保留一个列表（Q01）",
  "expected a text that is not empty": "应为非空文本", "holds characters no user types: {0}": "含有用户不会输入的字符：{0}",
  "unknown type {0}; known: {1}": "未知类型 {0}；可用：{1}", "unknown subtype {0}; known: {1}": "未知子类型 {0}；可用：{1}",
  "expected `function`": "应为 `function`", "{0} is defined twice; only the last counts (Q48)": "{0} 定义了两次，只有最后一次有效（Q48）",
  "{0} cannot be the name of a tool": "{0} 不能作为工具名称",
  "the dependencies form a cycle or name a missing position (Q17)": "依赖成环，或指向不存在的位置（Q17）",
  "a question needs its own step, but node {0} can run in the same one (Q06)": "提问须独占一步，但节点 {0} 可在同一步执行（Q06）",
  "declared Clarify, but no gold node asks the user": "声明为澄清，但标准答案中没有提问", "a Chat task ends with answer_type `chat`": "闲聊任务须以 answer_type `chat` 结束",
  "marks {0}, but the node has no such argument": "标注了 {0}，但该节点没有此参数", "expected `derived: <reason>`": "应为 `derived: <reason>`",
  "declared {0}, but a gold node asks the user": "声明为 {0}，但标准答案中有提问", "a {0} task ends with answer_type `tool`": "{0} 任务须以 answer_type `tool` 结束",
  "expected an object of argument paths and reasons": "应为由参数路径和理由组成的对象", "not even gold passes the official check: {0}": "标准答案也无法通过官方检查：{0}",
  "no argument value comes from node {0}": "没有参数值来自节点 {0}", "declared {0}, but the gold calls are {1}": "声明为 {0}，但标准答案的调用为 {1}",
  "the same call as node {0}, in one step with it (Q31)": "与节点 {0} 的调用相同且在同一步（Q31）",
  "expected the position {0}, found {1}": "位置应为 {0}，实为 {1}", "expected what the tool returns (for virtual actions the gold text)": "应为工具的返回结果（虚拟动作则为标准文本）",
  "names a node twice": "重复列出同一节点", "expected an object with a kind for each position": "应为每个位置注明种类的对象",
  "expected an object with a list of other values for each argument": "应为每个参数列出其他值的对象", "{0} is not in the tool list": "{0} 不在工具列表中",
  "expected a non-empty list of parameter names": "应为非空的参数名列表", "expected {0} exactly once, as the last node": "{0} 应恰好出现一次，且为最后一个节点",
  "node {0} does not come before node {1}; write nodes in order": "节点 {0} 不在节点 {1} 之前；请按顺序书写", "the node does not depend on {0}": "该节点不依赖 {0}",
  "{0} is no kind; expected one of {1}": "{0} 不是种类；应为 {1} 之一", "{0} is not a parameter of {1}": "{0} 不是 {1} 的参数",
  "only arguments of tools have alternatives": "只有工具的参数才有可接受的其他值",
  "expected {\"answer_type\": \"tool\"} or {\"answer_type\": \"chat\"}": "应为 {\"answer_type\": \"tool\"} 或 {\"answer_type\": \"chat\"}",
  "the answer does not depend on nodes {0} (Q06, Q25)": "回答不依赖节点 {0}（Q06、Q25）", "{0} is what gold has for {1}": "{0} 已是 {1} 的标准值",
  "expected a schema of type `object`": "应为 `object` 类型的结构", "expected a description": "缺少说明", "expected a schema object": "应为结构对象",
  "expected type {0}, found {1}": "类型应为 {0}，实为 {1}", "{0} is not in the enum {1}": "{0} 不在枚举 {1} 中", "the format writes decimals as `float`, not `number`": "此格式的小数写作 `float`，而不是 `number`",
  "expected a non-empty list": "应为非空列表", "expected an object of parameter schemas": "应为参数结构的对象", "expected a list of parameter names, found {0} (Q48)": "应为参数名列表，实为 {0}（Q48）",
  "expected a non-empty list of schemas (Q46)": "应为非空的结构列表（Q46）", "expected one of {0}; found {1}": "应为 {0} 之一；实为 {1}", "{0} is not of type {1}": "{0} 不是 {1} 类型", "{0} occurs twice": "{0} 出现两次",
  "an object must list its properties; a free-form one accepts only {} (Q38)": "对象须列出其属性；自由形式的对象只接受 {}（Q38）",
  "{0} is required but not a property, which nothing can satisfy (Q39)": "{0} 为必填但不是属性，无法满足（Q39）", "a parameter of this name breaks the official comparison (Q47)": "此名称的参数会破坏官方比较（Q47）",
  "a required argument is missing": "缺少必填参数", "the schema does not define this argument": "结构未定义此参数",
  "made after node {0} though no value flows; may be parallel": "在节点 {0} 之后执行，但没有值传递；可能可并行", "the user asks for an order, and node {0} changes something": "用户要求了顺序，且节点 {0} 会改变状态",
  "a question and the answer stand alone in their step": "提问和回答各自独占一步", "a like call beside node {0}": "与节点 {0} 类似的调用",
  "{0} is a number node {1} returned, changed by one the user said": "{0} 由节点 {1} 返回的数与用户给出的数计算得出", "a part of {0} stands in what node {1} returned": "{0} 的一部分出现在节点 {1} 的返回结果中",
  "{0} stands in what node {1} returned": "{0} 出现在节点 {1} 的返回结果中", "{0} is one of those that nodes {1} were made for": "{0} 是节点 {1} 的对象之一",
  "seems to need node {0}: {1} (confidence {2})": "似乎依赖节点 {0}：{1}（置信度 {2}）",
  "has no records": "没有记录", "nested too deeply": "嵌套过深",
  "{0} is called, and the conversation does not define it": "调用了 {0}，但对话未定义它", "taken for a question for parameters: check which": "视为询问参数：请核对是哪些参数",
  "the assistant said something before this call, which is left out": "助手在此调用前说的话已省略", "nothing says when it was": "没有日期信息", "the tool's result is not recorded": "没有记录工具的结果",
  "there is no answer": "没有回答", "choose what the user leaves unsaid in this task": "请选择用户在此任务中省略了什么", "a system text of {0} characters: sessions have none": "{0} 个字符的系统文本：会话中没有这一部分",
  "a result that belongs to no call is left out": "不属于任何调用的结果已省略", "message {0}, which comes before the user says anything": "用户开口之前的第 {0} 条消息",
};
const patterns = Object.keys(MESSAGES).filter((text) => /\{\d\}/.test(text)).map((text) =>
  [text, new RegExp(`^${text.split(/\{\d\}/).map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("(.*?)")}$`, "s")]);

// The Chinese of a message, and what it is said of; null for one that is not known.
export function chinese(message) {
  if (Object.hasOwn(MESSAGES, message)) return [MESSAGES[message], []];
  if (message.length > 2000) return null;
  for (const [text, pattern] of patterns) {
    const found = pattern.exec(message);
    if (found) return [MESSAGES[text], found.slice(1)];
  }
  return null;
}
