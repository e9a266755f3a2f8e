"""Chinese wording of the prompts of Normal and Special records: our own, telling what section 3 says each must tell."""

from wildtool.benchmarks.acebench.prompts.request_texts import (
    PROBLEM_MESSAGES,
    NormalTexts,
    PromptTexts,
    SpecialTexts,
)

_FORMAT = """\
按 [ApiName(key1='value1', key2='value2', ...)] 书写,使用真实的API名、参数名和取值。\
回答的第一个字符是 [,最后一个字符是 ]。"""
_SEVERAL = "多个请求写在同一对方括号内,用逗号隔开:[First(...), Second(...)]。不要写其他任何内容。"
_EMPTY = "没有参数的API写作 [ApiName()]。绝不自造参数名。"

_NORMAL = NormalTexts(
    role="""\
你是一个AI助手,角色名为“assistant”。下面给出API说明和第1至t步的对话,请写出助手在第t+1步发出的API请求。""",
    format=_FORMAT,
    several=_SEVERAL,
    optional="说明中没有另行规定的参数都视为可选:用户提到的要给出,其余的不写。",
    own_words="说明没有规定格式时,取值直接用用户的原话。",
    empty=_EMPTY,
    minimal="""\
你是助手。只用API请求回答对话。
格式:[ApiName(key1='value1', key2='value2', ...), ...]""",
    native="你是一个AI助手。请调用所提供的工具来回应用户的最后一条消息;需要多个调用时一次全部给出。",
)
_PREFERENCE = NormalTexts(
    role="""\
你是一个AI助手,角色名为“assistant”。下面给出API说明、第1至t步的对话以及用户画像,请写出助手在第t+1步发出的API请求。""",
    format=_FORMAT,
    several=_SEVERAL,
    optional="说明中没有另行规定的参数都视为可选:用户提到的或画像中能找到的要给出,其余的不写。",
    own_words="说明没有规定格式时,取值直接用用户或画像中的原话。",
    empty=_EMPTY,
    minimal="""\
你是助手。只用API请求回答对话;用户没说的内容从画像中获取。
格式:[ApiName(key1='value1', key2='value2', ...), ...]""",
    native="""\
你是一个AI助手。请调用所提供的工具来回应用户的最后一条消息;需要多个调用时一次全部给出。用户没说的内容从画像中获取。""",
)
_CASES = f"""\
如果请求不清楚、不完整、有错误或超出能力范围,请填好括号中的内容,用以下消息指出。优先级按此顺序,注意区分1和2:
{PROBLEM_MESSAGES}
消息1:关键信息齐全,但某个取值的类型或形式与参数说明矛盾。
消息2:缺少关键信息。
消息3:请求超出了这些API的能力。"""
_SPECIAL = SpecialTexts(
    role="""\
你是一个AI助手,角色名为“assistant”。下面给出API说明和第1至t步的对话,请判断用户的请求能否完成,并在第t+1步作出相应的回答。""",
    solvable=f"""\
如果请求清楚并且能够完成:
- {_NORMAL.own_words}
- 如果有多个API适用,写出对所有这些API的请求。
- {_FORMAT}{_SEVERAL}""",
    unsolvable=_CASES,
    format=f"""\
如果请求能够完成:{_FORMAT}
如果不能,写出以下消息之一(1用于取值有误,2用于信息缺失,3用于任何API都无法完成的请求):
{PROBLEM_MESSAGES}""",
    minimal=f"""\
你是助手。请用API请求回答:[ApiName(key1='value1', ...), ...];\
若因取值有误(1)、信息缺失(2)或API能力有限(3)而无法做到,则回答消息:
{PROBLEM_MESSAGES}""",
    native=f"""\
你是一个AI助手。请判断用户最后一条消息中的请求能否完成。
如果请求清楚并且能够完成,就调用所提供的工具;有多个工具适用时全部调用。{_NORMAL.own_words}
{_CASES}
这样的消息写在回答的正文里,此时不调用任何工具。ApiName 指工具名。""",
)

REQUEST_TEXTS = PromptTexts(
    normal=_NORMAL,
    preference=_PREFERENCE,
    special=_SPECIAL,
    profile_heading="用户画像:",
    roles="角色:user 是用户;assistant 是助手,发出API请求;tool 是工具,返回结果。",
    special_roles="角色:user 是用户;assistant 是助手,发出API请求。",
    apis_heading="API列表:",
    history_heading="对话记录,第1..t步:",
)
