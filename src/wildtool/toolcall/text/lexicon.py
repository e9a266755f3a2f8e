"""Word lists for the comparison of free text, English and Chinese."""


def word_set(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())


ARTICLES = word_set(
    """
    a an the please kindly 的 了 吗 呢 吧 啊 呀 地 得 请 请问 请你 请您 麻烦 麻烦你 麻烦您 帮我 帮忙
    一下 谢谢
    """
)
"""Left out of every text that is compared by words."""

FUNCTION_WORDS = ARTICLES | word_set(
    """
    of on in at for to with by as and that which who is are was were be been being am do does did has
    have had will would shall could can it its there this these those then also so just s my your his our their
    是 在 把 将
    就 也 都 和 与 以及 并 并且 那 这
    """
)
"""Left out of free text only: in a short text `in stock` and `stock` are two things."""

POLITE_START = (
    r"(?:(?:(?:can|will) you (?:please|kindly)|(?:could|would) you(?! (?:like|prefer|rather|mind))"
    r"|(?:i would|i'd) like(?: you)? to|i (?:want|need)(?: you)? to|please|kindly)\s+)+"
)

COMPOUNDS = word_set(
    """
    hotdog smartphone wifi wellbeing online offline website webpage database dataset healthcare childcare skincare
    haircut bookstore bookshop playlist timezone basketball football volleyball softball baseball notebook handbook
    cheesecake pancake cupcake seafood headphone earphone teamwork homework laptop desktop weekend workshop checklist
    spreadsheet newsletter videogame boardgame popcorn sunscreen toothpaste toothbrush airport bathroom bedroom
    classroom livingroom raincoat swimsuit lunchbox lipstick icecream keyboard screenshot username password filename
    folder motorbike ebook barcode flashlight farmhouse farmland penthouse townhouse guesthouse beachfront waterfront
    snowboard skateboard surfboard dishwasher wallpaper sunglasses sunflower rainforest firefighter babysitter barbershop
    cookbook timetable roommate teapot toothpick sunrise sunset bookshelf bedtime lunchtime nightlife sidewalk driveway
    checkin checkout login logout signup setup backup pickup followup lookup kickoff takeoff dropoff
    """
)
"""Words that are also written apart: `hot dog`."""

NEGATIONS = word_set(
    "not never none nothing nobody nowhere neither nor hardly 不 没 无 别 未 非 勿 莫 不需要"
)

DAYS = word_set(
    """
    today tonight tomorrow yesterday monday tuesday wednesday thursday friday saturday sunday 今天
    今日 明天 明日 后天 大后天 昨天 昨日 前天 今晚 明晚 昨晚 周一 周二 周三 周四 周五 周六 周日 周末
    """
)

MARKERS = DAYS | word_set(
    """
    被     january february april june july august september october november december am pm noon midnight
    morning afternoon evening night weekday weekend before after until since during between second
    minute hour day week month quarter year daily weekly monthly yearly annual hourly north south east
    west northern southern eastern western left right up down upper lower top bottom front back inside
    outside out off over under above below from without except instead min max minimum maximum
    more less fewer most least higher lower highest lowest increase decrease rise fall raise reduce
    grow shrink gain loss profit only both either all every each half double twice or if
    unless first third last next previous past future early late earlier later earliest latest new old
    newest oldest enable disable allow deny forbid block unblock accept reject approve decline add
    remove delete create destroy open close start stop begin end finish pause resume buy sell send
    receive import export upload download lock unlock include exclude show hide public private follow
    unfollow like dislike love hate good bad better worse best worst big small large tiny long short
    high low hot cold warm cool cheap expensive fast slow free paid true false yes male female man
    woman boy girl husband wife son daughter mother father mom dad brother sister positive negative
    win lose pass fail success failure confirm cancel asc desc ascending descending against percent
    dollar euro pound yen yuan usd eur gbp cny rmb jpy celsius fahrenheit mg g kg lb oz ml l mm cm m
    km mile inch foot feet meter kilometer kilogram gram liter gallon ton kb mb gb tb 上午 下午 早上
    中午 晚上 凌晨 傍晚 去年 今年 明年 后年 前年 上周 本周 这周 下周 上个月 本月 这个月 下个月 上月
    下月 之前 以前 之后 以后 前 后 东 南 西 北 左 右 上 下 里 外 内 从 最大 最小 最高 最低 最多 最少
    最新 最旧 最早 最晚 增加 减少 上升 下降 提高 降低 涨 跌 打开 关闭 开启 开 关 启用 禁用 添加 删除
    允许 禁止 接受 拒绝 同意 反对 批准 驳回 买 卖 发送 接收 收入 支出 进口 出口 上传 下载 公开 私密 大
    小 多 少 长 短 高 低 冷 热 贵 便宜 快 慢 好 坏 新 旧 男 女 父 母 爸 妈 哥 姐 弟 妹 丈夫 妻子 只 仅
    所有 全部 每 或 或者 除了 元 美元 欧元 英镑 日元 人民币 块 角 公里 千米 米 厘米 公斤 千克 克 斤 升
    毫升 度 摄氏 华氏 秒 分钟 小时 天 周 月 季度 年 号 日 二 两 三 四 五 六 七 八 九 十 百 千 万 亿
    """
)
"""Words that change the meaning of a sentence: both texts must have the same ones, equally often."""

SYNONYMS = {
    word: group.split()[0]
    for group in (
        "not no without cannot",
        "start begin commence",
        "buy purchase",
        "stop halt",
        "movie film",
        "photo picture",
        "repair fix",
        "big large",
        "child children kid kids",
        "near nearby",
        "help assist",
        "show display",
        "delete remove",
        "find locate",
        "about regarding concerning",
        "yearly annual",
        "前 之前 以前",
        "后 之后 以后",
        "whole entire",
        "quick fast rapid quickly",
        "email e-mail",
        "meter metre",
        "liter litre",
        "gray grey",
        "program programme",
        "percent %",
        "and &",
        "dollar $",
        "euro €",
        "pound £",
        "people persons",
        "man men",
        "woman women",
        "mother mom mum",
        "father dad",
        "含 包含 包括",
        "查 查询 查找 查一查 查查",
        "买 购买",
        "怎么 如何 怎样",
        "今天 今日",
        "明天 明日",
        "昨天 昨日",
        "开启 打开",
        "全部 所有",
        "周日 周天",
        "或 或者",
        "公里 千米",
        "公斤 千克",
        "以及 还有",
        "没 没有 无 未 不含",
        "别 不要",
        "不需要 不需 无需 无须 不必",
        "抽烟 吸烟",
        "把 将",
        "忘 忘记",
        "大约 大概",
        "doctor dr",
        "mister mr",
        "professor prof",
        "mount mt",
        "versus vs",
        "approximately approx",
        "department dept",
        "incorporated inc",
        "corporation corp",
        "limited ltd",
        "junior jr",
        "university univ",
        "international intl",
        "appointment appt",
        "captain capt",
        "lieutenant lt",
        "senator sen",
        "governor gov",
        "sergeant sgt",
        "senior sr",
        "ok okay",
        "television tv",
        "monday mon",
        "tuesday tue tues",
        "wednesday wed",
        "thursday thu thurs",
        "friday fri",
        "january jan",
        "february feb",
        "april apr",
        "august aug",
        "september sep sept",
        "october oct",
        "november nov",
        "december dec",
    )
    for word in group.split()[1:]
}
"""Word to the first word of its group; words of a group are interchangeable in any text."""

NOT_PLURALS = word_set(
    """
    news sales goods customs arms mars glasses savings spirits manners means woods clothes spectacles looks blues
    shorts headquarters works earnings premises papers pants contents surroundings species series stairs stocks bonds
    funds terms forces grounds heads odds pains letters regards respects brains facts feelings quarters remains scales
    troops authorities communications damages directions effects features times wages thanks minutes colours colors
    lenses assets shares returns minds lines airs ashes belongings wits provisions matters rights securities
    """
)
"""Words that are another word without their s, besides all that end in -ics."""

CHINESE_COMPOUNDS = word_set(
    """
    特别 分别 级别 类别 性别 区别 识别 个别 告别 非常 非洲 未来 无线 无论 了解 为了 目的 的确
    的士 请假 申请 邀请 请求 得到 觉得 获得 地方 地址 地点 地图 地区 地铁 土地 公开 大家 大概 大学
    小学 上海 海南 河南 湖南 云南 河北 湖北 山东 山西 广东 广西 江西 陕西 西安 南京 北京 东京 天津
    天气 上班 下班 以上 以下 内容 国内 国外 多少 好的 最好 更好 月亮 日本 日期 年轻 一起 一些 一样 十分 万一 千万 百分
    不需要
    """
)
"""Words in which a character of the other lists means something else."""

CASED_UNITS = word_set("m mm mg g s b kb mb gb tb mw ma mv mj n pa")
"""Symbols whose case changes the unit: metre and million, megabit and megabyte."""

MEASURE_WORDS = (
    "星居章节季级期页个份张人天年月日号点分秒小时周岁元块次间位名部本条只台件杯瓶公斤克米里折楼层室座等倍度"
)

GIVEN_NAMES = word_set(
    """
    adam alan alex alice amy andrew angela ann anna anne anthony barbara ben bill bob brian carl carol catherine charles
    chris christine clara claire daniel dave david diana diane donna ed eddie edward elena elizabeth ella ellen emily emma
    eric eva frank fred george grace greg hannah harry helen henry ian jack jake james jane jason jean jeff jennifer jenny
    jerry jessica jim joan joe john jonathan joseph julia julie karen kate katie keith kelly ken kevin kim larry laura
    leo linda lisa lucy luke maria marie mark martha martin mary matt max mia michael michelle mike molly nancy nick
    nicole noah nora oliver olivia pat patricia patrick paul peter philip rachel rebecca richard rick rob robert roger ron
    ross rose ruth ryan sam sandra sara sarah scott sean sophia sophie stephen steve steven sue susan ted thomas tim
    tina tom tony victor walter wendy will william zoe
    """
)
"""Common names, which no place stands behind: `Tom, Jerry` is a list, `Paris, Texas` is not."""
