"""What people say of themselves in Chinese, Japanese and Korean.

The claim keeps the speaker's own words, without the pronoun.
"""

# The rows are kept whole, as tables: broken up, they are harder to compare.
# ruff: noqa: E501

from __future__ import annotations

import re
from collections.abc import Callable

from remanence_server.extraction.heuristic.informative import is_question
from remanence_server.extraction.heuristic.profile.statement import Claim

_MAXIMUM_SENTENCE_CHARACTERS = 200
_UNREAL = re.compile(
    r"如果|要是|假如|假设|也许|可能|他说|她说|你说|他们说|听说|据说|想象|梦见|问我|以前|曾经|"
    r"もし|かもしれ|だったら|と言って|と言いました|らしい|以前は|昔は|夢で|彼は|彼女は|あなたは|"
    r"만약|라면|아마|라고\s?(?:말|했)|예전에|옛날에|꿈에서|그는|그녀는"
)
_QUOTED = re.compile(r"[“「『\"][^”」』\"]*[”」』\"]")
_CLAUSE_END = re.compile(r"[，。！？；,!?;\s]+")
_ZH_SUBJECT = re.compile(
    r"^(?:大家好|你好|您好|其实|而且|还有|但是|不过|因为|所以|对了|另外|嗯)?(?:我们家|我家|我们|我|本人)"
    r"(?:自己|昨天|前天|今天|上周|上个月|去年|今年|前年|现在|目前|最近|刚刚|刚|已经|也|还|都|真的|一直|平时|今年|从小|就|是真的)*"
)
_ZH_CONTINUES = re.compile(
    r"^(?:现在|目前|也|还|平时|最|很|非常)*(?:住在|是|喜欢|爱|不喜欢|讨厌|养了|养着|在.{1,12}(?:工作|上班|读书)|对.{1,8}过敏|来自|"
    r"会说|有一?[只个两条]|打算|计划)"
)
_ZH_JOB = (
    r"医生|护士|老师|教师|教授|工程师|程序员|设计师|律师|会计师?|厨师|作家|记者|学生|大学生|研究生|公务员|"
    r"司机|演员|歌手|画家|摄影师|翻译|销售|经理|科学家|研究员|药剂师|警察|消防员|军人|农民|理发师|咖啡师|"
    r"建筑师|心理咨询师|自由职业者|产品经理|插画师|编辑"
)

_Render = Callable[[re.Match[str]], Claim]


def _verbatim(category: str, *, ends: bool = False) -> _Render:
    return lambda match: Claim(category, match["o"].strip(" .。!！"), ends)


def _labelled(category: str, label: str) -> _Render:
    return lambda match: Claim(category, f"{label}{match['o'].strip(' .。!！')}")


def _compiled(*rows: tuple[str, _Render]) -> tuple[tuple[re.Pattern[str], _Render], ...]:
    return tuple((re.compile(pattern), render) for pattern, render in rows)


# Matched behind the pronoun, over the whole clause.
_CHINESE = _compiled(
    (r"(?:的名字)?(?:叫做?|名叫|的名字是)(?P<o>[^的了着]{1,12})$", _labelled("name", "名字：")),
    (r"的生日是?(?:在)?(?P<o>.*\d.*|.*月.*)$", _labelled("birthday", "生日：")),
    (r"(?P<o>\d{1,3}岁)(?:了)?$", _verbatim("age")),
    (r"(?P<o>不(?:再)?住在?.+?)(?:了)?$", _verbatim("home", ends=True)),
    (r"(?P<o>(?:住在|定居在?|居住在)(?!一起).+)$", _verbatim("home")),
    (r"(?:从.{1,10})?搬(?:家)?(?:到|去|来)了?(?P<o>.{1,16}?)(?:来|去|了|住)*$", _labelled("home", "住在")),
    (r"(?:是)?(?:来自|从)(?P<o>.{1,10}?)(?:来的?|人)?$", _labelled("origin", "来自")),
    (r"是(?P<o>[^的]{1,8}人)$", _verbatim("origin")),
    (r"(?P<o>(?:辞职|退休|失业|离职)了?)$", _verbatim("work", ends=True)),
    (r"(?P<o>在.{1,16}(?:工作|上班))(?:了)?$", _verbatim("work")),
    (rf"(?:是|当|做)(?:一[名个位]|[名个位])?(?P<o>.{{0,10}}?(?:{_ZH_JOB}))$", _verbatim("work")),
    (r"(?P<o>在.{1,16}(?:读书|上学|读研|读博|念书))$", _verbatim("studies")),
    (r"(?P<o>(?:在学|正在学|学习).{1,14})$", _verbatim("studies")),
    (r"(?P<o>会(?:说|讲).{1,16})$", _verbatim("languages")),
    (r"(?P<o>对.{1,12}(?:不)?过敏)$", _verbatim("allergies")),
    (r"(?P<o>(?:不吃|不喝|吃素|不能吃|不能喝|戒(?:了)?)(?:.{0,12}))$", _verbatim("diet")),
    (r"(?P<o>(?:有|得了|患有)(?:.{0,4})(?:糖尿病|高血压|哮喘|心脏病|关节炎|抑郁症|过敏性鼻炎|胃病|偏头痛))$", _verbatim("health")),
    (r"(?P<o>怀孕.*)$", _verbatim("health")),
    (r"(?P<o>(?:不再|再也不)(?:喜欢|爱).+?)(?:了)?$", _verbatim("dislikes")),
    (r"(?P<o>(?:很|最|特别|非常|真的|一点也|一点都)*(?:不(?:太)?喜欢|不(?:太)?爱|讨厌|害怕|怕)(?!你|您|他|她|它|这|那).+)$", _verbatim("dislikes")),
    (r"(?P<o>(?:很|最|特别|非常|超|超级)*(?:喜欢|热爱|爱好|爱)(?!你|您|他|她|它|这|那|上了).+)$", _verbatim("likes")),
    (r"(?P<o>养(?:了|着|过)?.{1,20}(?:猫|狗|兔|鸟|鱼|仓鼠|乌龟|鹦鹉|豚鼠).*)$", _verbatim("pets")),
    (r"(?P<o>有.{1,6}(?:猫|狗|兔子|仓鼠|乌龟|鹦鹉).*)$", _verbatim("pets")),
    (r"(?P<o>有.{0,4}(?:孩子|儿子|女儿|哥哥|姐姐|弟弟|妹妹|双胞胎).*)$", _verbatim("family")),
    (r"(?P<o>(?:结婚|离婚|订婚)了?.*|单身)$", _verbatim("family")),
    (r"的?(?P<o>(?:妈妈|爸爸|母亲|父亲|妹妹|姐姐|弟弟|哥哥|儿子|女儿|老公|老婆|丈夫|妻子|爷爷|奶奶|外婆|外公|男朋友|女朋友)(?:叫|是|在|住|今年|喜欢|对).+)$", _verbatim("family")),
    (r"(?P<o>(?:每天|每周|每个?月|每年|每个?周末|每晚|经常|总是).{2,24})$", _verbatim("habits")),
    (r"(?P<o>(?:想要?|打算|计划|希望|梦想)(?:学|去|成为|买|开|写|考|换|当|参加|跑|旅行|减肥|明年|今年|以后|能).{1,24})$", _verbatim("goals")),
)  # fmt: skip

_JA_SUBJECT = r"(?:^|[、。，\s])(?:(?:私|わたし|僕|ぼく|俺|自分)(?:は|も|の|には|、)?\s?)?(?:実は|最近|今|今は|今年|先月|先週)?、?"
_JA_THING = r"[^、。はもが\s]{1,14}"
_JAPANESE = _compiled(
    (r"(?:私の|僕の)?名前は(?P<o>[^、。\s]{1,12}?)(?:です|と(?:言|い)います|と申します|だ)", _labelled("name", "名前：")),
    (_JA_SUBJECT + r"(?P<o>[^、。はがを\s]{1,10}?)と(?:申します|いいます|言います)", _labelled("name", "名前：")),
    (r"誕生日は(?P<o>[^、。]*\d[^、。]*?)(?:です|だ)?(?:[、。]|$)", _labelled("birthday", "誕生日：")),
    (_JA_SUBJECT + rf"(?P<o>{_JA_THING}に(?:住んでいます|住んでいる|住んでます|住んでる))", _verbatim("home")),
    (_JA_SUBJECT + rf"(?:{_JA_THING}から)?(?P<o>{_JA_THING})に(?:引っ越しました|引っ越した|引越しました|引っ越してきました)", lambda match: Claim("home", f"{match['o']}に住んでいる")),
    (r"出身は(?P<o>[^、。]{1,10}?)(?:です|だ)", _labelled("origin", "出身：")),
    (_JA_SUBJECT + r"(?P<o>[^、。は\s]{1,10}?)出身(?:です|だ)", _labelled("origin", "出身：")),
    (_JA_SUBJECT + r"(?P<o>仕事を辞めました|仕事を辞めた|退職しました|会社を辞めました|会社を辞めた)", _verbatim("work", ends=True)),
    (_JA_SUBJECT + r"(?P<o>[^、。は\s]{1,16}(?:で働いています|で働いている|として働いています|として働いている|に勤めています))", _verbatim("work")),
    (_JA_SUBJECT + r"(?P<o>[^、。は\s]{0,6}(?:医者|医師|看護師|教師|先生|エンジニア|デザイナー|会社員|学生|大学生|料理人|作家|弁護士|プログラマー|美容師|公務員|主婦))(?:です|をしています|だ)", _verbatim("work")),
    (_JA_SUBJECT + r"(?P<o>[^、。は\s]{1,14}を(?:勉強しています|勉強している|習っています|習っている))", _verbatim("studies")),
    (r"(?P<o>[^、。は\s]{1,12}アレルギー)(?:が|です|なん)", _verbatim("allergies")),
    (_JA_SUBJECT + r"(?P<o>[^、。は\s]{1,16}?(?:が|は|も)(?:あまり)?(?:好きではありません|好きじゃない|好きではない|嫌い|苦手))", _verbatim("dislikes")),
    (_JA_SUBJECT + r"(?P<o>[^、。は\s]{1,16}?(?:が|も)(?:大好き|とても好き|一番好き|好き))(?!で(?:は|も)あり|じゃ|では)", _verbatim("likes")),
    (r"趣味は(?P<o>[^、。]{1,16}?)(?:です|だ|。|$)", _labelled("hobbies", "趣味：")),
    (_JA_SUBJECT + r"(?P<o>[^、。は\s]{0,12}(?:猫|犬|うさぎ|鳥|ハムスター|金魚|亀|インコ)[^、。は\s]{0,4}を(?:\S{0,3})?飼って(?:います|いる|ます|る))", _verbatim("pets")),
    (_JA_SUBJECT + r"(?P<o>(?:毎日|毎朝|毎晩|毎週|週末)[^、。]{2,20})", _verbatim("habits")),
    (_JA_SUBJECT + r"(?P<o>[^、。は\s]{1,18}(?:たいです|たいと思っています|つもりです|予定です))", _verbatim("goals")),
)  # fmt: skip

_KO_SUBJECT = r"(?:^|[,.!]\s?|\s)(?:(?:저는|나는|전|난|제가|내가)\s)?(?:요즘|지금|현재|작년에|지난달에|지난주에)?\s?"
_KOREAN = _compiled(
    (r"(?:제|내)\s?이름은\s?(?P<o>[^\s,.]{1,10}?)(?:입니다|이에요|예요|이야|야|라고)", _labelled("name", "이름: ")),
    (r"생일은\s?(?P<o>[^,.]*\d[^,.]*?)(?:입니다|이에요|예요|이야|$)", _labelled("birthday", "생일: ")),
    (_KO_SUBJECT + r"(?P<o>[^\s,.]{1,10}에(?:서)?\s?(?:살아요|살고\s?있어요|살고\s?있습니다|삽니다|살아|산다))", _verbatim("home")),
    (_KO_SUBJECT + r"(?:\S+에서\s)?(?P<o>[^\s,.]{1,10}?)(?:으로|로)\s?이사(?:했|갔|왔|를)", lambda match: Claim("home", f"{match['o']}에 살아요")),
    (_KO_SUBJECT + r"(?P<o>[^\s,.]{1,10})\s?출신(?:입니다|이에요|이야)", _labelled("origin", "출신: ")),
    (_KO_SUBJECT + r"(?P<o>(?:회사를|직장을|일을)\s?그만\s?뒀\S*|퇴사했\S*|은퇴했\S*)", _verbatim("work", ends=True)),
    (_KO_SUBJECT + r"(?P<o>[^,.\s]{1,12}에서\s?(?:일해요|일하고\s?있어요|일하고\s?있습니다|일합니다|근무\S+))", _verbatim("work")),
    (_KO_SUBJECT + r"(?P<o>[^,.\s]{0,8}(?:의사|간호사|교사|선생님|개발자|엔지니어|디자이너|학생|대학생|회사원|변호사|요리사|작가))(?:입니다|이에요|예요|이야|로)", _verbatim("work")),
    (_KO_SUBJECT + r"(?P<o>[^,.\s]{1,12}(?:을|를)\s?(?:공부하고|배우고)\s?있\S+)", _verbatim("studies")),
    (r"(?P<o>\S{1,10}\s?알레르기)(?:가|이)\s?있", _verbatim("allergies")),
    (_KO_SUBJECT + r"(?P<o>[^,.]{1,16}?\s?(?:안\s?좋아\S+|좋아하지\s?않\S+|싫어\S+))", _verbatim("dislikes")),
    (_KO_SUBJECT + r"(?P<o>[^,.]{1,16}?\s?(?:정말\s|아주\s|너무\s|제일\s|가장\s)?좋아(?:해요|합니다|해|하고|함))(?!지)", _verbatim("likes")),
    (r"취미는\s?(?P<o>[^,.]{1,14}?)(?:입니다|이에요|예요|야|$)", _labelled("hobbies", "취미: ")),
    (_KO_SUBJECT + r"(?P<o>[^,.]{0,12}(?:고양이|강아지|개|토끼|햄스터|새|거북이)[^,.\s]{0,4}\s?(?:\S+\s)?(?:키우고\s?있\S+|키워요|키웁니다|길러요))", _verbatim("pets")),
    (_KO_SUBJECT + r"(?P<o>(?:매일|매주|매달|주말마다|아침마다)\s[^,.]{2,20})", _verbatim("habits")),
    (_KO_SUBJECT + r"(?P<o>[^,.]{1,18}고\s?싶(?:어요|습니다|어))", _verbatim("goals")),
)  # fmt: skip
_KANA = re.compile("[\u3040-\u30ff]")
_HANGUL = re.compile("[\uac00-\ud7af]")


def cjk_claims(sentence: str) -> list[Claim]:
    """The claims of one sentence by its author; usually none."""
    sentence = _QUOTED.sub("", sentence)
    if (
        len(sentence) > _MAXIMUM_SENTENCE_CHARACTERS
        or is_question(sentence)
        or _UNREAL.search(sentence)
    ):
        return []
    if _HANGUL.search(sentence):
        return _searched(_KOREAN, sentence)
    if _KANA.search(sentence):
        return _searched(_JAPANESE, sentence)
    return _chinese(sentence)


def _searched(rules: tuple[tuple[re.Pattern[str], _Render], ...], sentence: str) -> list[Claim]:
    found: dict[str, Claim] = {}
    for pattern, render in rules:
        match = pattern.search(sentence)
        if match:
            claim = render(match)
            # A dislike reads like a like with a tail: the rules are in order of precedence.
            if claim.category == "likes" and "dislikes" in found:
                continue
            found.setdefault(claim.category, claim)
    return list(found.values())


def _chinese(sentence: str) -> list[Claim]:
    found: list[Claim] = []
    about_self = False
    for clause in _CLAUSE_END.split(sentence):
        subject = _ZH_SUBJECT.match(clause)
        if subject:
            about_self = True
            rest = clause[subject.end() :]
        elif about_self and _ZH_CONTINUES.match(clause):
            rest = re.sub("^(?:现在|目前|也|还|平时)+", "", clause)
        else:
            about_self = about_self and not clause
            continue
        for pattern, render in _CHINESE:
            match = pattern.match(rest)
            if match:
                found.append(render(match))
                break
    return found
