"""Rules for who somebody is: name, home, work, studies, languages, health.

A rule is matched at the start of a first-person clause, so "I" and "my" are where it begins, and
the first that matches has the clause. Chat is written in lower case too: where a name is needed the
renderers check for capitals.
"""

from __future__ import annotations

from remanence_server.extraction.heuristic.profile import vocabulary as of
from remanence_server.extraction.heuristic.profile.english_clauses import (
    ADVERB,
    I_AM,
    I_DO,
    I_HAVE,
    OBJECT,
    WE,
)
from remanence_server.extraction.heuristic.profile.renderers import (
    Rule,
    age,
    claim,
    fixed,
    labelled,
    name,
    rules,
    said,
    tidy,
    verb,
    works,
)

_HOME_PREPOSITION = r"(?:in|on|at|near|outside|close to|just outside|by)"

LIFE_RULES: tuple[Rule, ...] = rules(
    # Who.
    (r"my\s+(?P<sure>full\s+name|first\s+name|name)(?:['’]s|\s+is)\s+" + OBJECT, name),
    (rf"(?:{I_AM}called|I\s+go\s+by|call\s+me)\s+(?P<sure>)" + OBJECT, name),
    (
        r"my\s+birthday(?:['’]s|\s+is)\s+(?:on\s+)?(?=.*(?:\d|january|february|march|april|\bmay\b|june|july|august|september|october|november|december))"
        + OBJECT,
        said("birthday", "Birthday:"),
    ),
    (r"I\s+was\s+born\s+(?=(?:on|in)\s+[^,.;]*\d)" + OBJECT, said("birthday", "Born")),
    (rf"{I_AM}(?P<o>\d{{1,3}})(?=\s+years?\s+old|\s*y/?o\b|[,.!;]|$|\s+and\b)", age),
    (rf"{I_DO}turned\s+(?P<o>\d{{1,3}})\b", age),
    # Where.
    (
        rf"I(?:['’]m|\s+am)?\s+{ADVERB}(?:live|living|based|reside|residing|settled)\s+"
        rf"(?!in\s+(?:fear|hope|peace|denial|the\s+moment|dread)\b)(?={_HOME_PREPOSITION}\s)"
        + OBJECT,
        said("home", "Lives"),
    ),
    (
        rf"{WE}(?:moved|relocated|emigrated|immigrated)\s+(?:back\s+)?(?:(?:from|out\s+of)\s+[^,.;]+?\s+)?"
        r"(?:over\s+)?to\s+(?P<o>(?:the\s+)?[^,.;!?()]+?)"
        r"(?=\s+(?:from|for|with|when|after|because|and|in\s+\d|in\s+[A-Z][a-z]+\s*$|but|so|as|where)\b"
        r"|\s*[,.;!?()]|\s*$|\s[—–-]\s)",
        said("home", "Lives in", proper=True),
    ),
    (
        rf"{I_DO}(?:no\s+longer\s+live|don['’]?t\s+live|do\s+not\s+live)\s+(?=in\s)" + OBJECT,
        said("home", "No longer lives", ends=True),
    ),
    (
        rf"{WE}(?:moved\s+out\s+of|moved\s+away\s+from)\s+" + OBJECT,
        said("home", "Moved away from", ends=True, proper=True),
    ),
    (rf"I\s+{ADVERB}live\s+(?=(?:alone|with)\b)" + OBJECT, said("household", "Lives")),
    (
        rf"(?:{I_AM}|I\s+come\s+)(?:originally\s+)?from\s+" + OBJECT,
        said("origin", "From", proper=True),
    ),
    (
        r"I\s+(?:was\s+born(?:\s+and\s+raised)?|was\s+raised|grew\s+up)\s+in\s+" + OBJECT,
        said("origin", "Grew up in"),
    ),
    # What for a living.
    (
        rf"(?:{I_DO}work|{I_AM}working)\s+(?:\w+-time\s+|remotely\s+)?(?P<p>as|at|for|with|in)\s+(?!progress)"
        + OBJECT,
        works,
    ),
    (
        rf"{I_DO}work\s+(?P<o>from\s+home|remotely|part[- ]time|night\s+shifts?|nights)\b",
        said("habits", "Works"),
    ),
    (
        rf"{I_AM}(?P<o>an?\s+(?:[\w-]+\s+){{0,3}}?(?:{of.PROFESSION})\b(?:\s+(?:at|for|in|from|of|with|by)\s+[^,;!?()]+?)?)"
        r"(?=\s+(?:and|but|who|so)\b|\s*[,;!?()]|\.?\s*$|\s[—–-]\s)",
        said("work", "Works as"),
    ),
    (
        rf"{I_HAVE}(?:got|found|landed|accepted|took|started|have)\s+(?:an?\s+|my\s+|the\s+)?(?:new\s+|first\s+)?"
        r"(?:\w+\s+)?job\s+(?P<p>as|at|with|in|for)\s+" + OBJECT,
        works,
    ),
    (
        rf"{I_HAVE}(?:started\s+(?:working\s+)?(?:at|for)|(?:got|was|been)\s+hired\s+(?:at|by))\s+"
        + OBJECT,
        said("work", "Works at", proper=True),
    ),
    (
        rf"{WE}(?P<v>run|own|manage)\s+(?P<o>(?:an?|the|my\s+own|our\s+own|my)\s+(?:[\w'’-]+\s+){{0,3}}?(?:{of.BUSINESS})\b[^.!?;,]*)",
        verb("work"),
    ),
    (
        rf"{WE}(?:opened|founded|co-founded|started)\s+(?P<o>(?:an?|my\s+own|our\s+own|my)\s+(?:[\w'’-]+\s+){{0,3}}?(?:{of.BUSINESS})\b[^.!?;,]*)",
        said("work", "Started"),
    ),
    (
        rf"{I_HAVE}(?P<o>(?:quit|left|lost|resigned\s+from|gave\s+up)\s+my\s+(?:\w+\s+)?job(?:\s+(?:at|as)\s+[^,.;!?]+)?)",
        said("work", "", ends=True),
    ),
    (
        rf"I(?:\s+was|\s+got|['’]ve\s+been)\s+{ADVERB}(?P<o>laid\s+off|fired|made\s+redundant)",
        said("work", "Was", ends=True),
    ),
    (
        rf"I(?:['’]m|['’]ve|\s+am)?\s+{ADVERB}(?:retired|unemployed|between\s+jobs)\b(?!\s+to\b)",
        fixed("work", "Not working at present", ends=True),
    ),
    (
        r"I\s+(?:no\s+longer|don['’]?t|do\s+not)\s+work\s+(?=(?:as|at|for|in|with)\s)" + OBJECT,
        said("work", "No longer works", ends=True),
    ),
    # What they study and speak.
    (
        rf"{I_DO}(?:speak|can\s+speak)\s+(?=(?:\w+\s+){{0,2}}(?:{of.LANGUAGE})\b)" + OBJECT,
        said("languages", "Speaks"),
    ),
    (
        rf"{I_AM}(?:fluent\s+in|a\s+native\s+speaker\s+of)\s+" + OBJECT,
        said("languages", "Speaks", proper=True),
    ),
    (
        r"my\s+(?:native|first|mother)\s+(?:language|tongue)\s+is\s+" + OBJECT,
        said("languages", "Native language:"),
    ),
    (
        rf"(?:{I_AM}|I(?:['’]ve|\s+have)\s+been\s+)(?:learning|studying)\s+(?=(?:\w+\s+)?(?:{of.LANGUAGE})\b)"
        + OBJECT,
        said("languages", "Is learning"),
    ),
    (rf"{I_DO}study\s+(?!for\b|every\b|hard\b)" + OBJECT, said("studies", "Studies")),
    (
        rf"{I_AM}(?:studying|majoring\s+in)\s+(?!for\b|every\b|hard\b)" + OBJECT,
        said("studies", "Studies"),
    ),
    (
        rf"{I_HAVE}(?:studied|majored\s+in)\s+(?!for\b|hard\b|every\b)" + OBJECT,
        said("studies", "Studied"),
    ),
    (rf"{I_HAVE}graduated\s+" + OBJECT, said("studies", "Graduated")),
    (
        r"I(?:['’]ve\s+got|\s+have)\s+(?P<o>an?\s+(?:\w+['’]?s?\s+)?(?:degree|masters?|master['’]s|phd|doctorate|bachelor['’]s|mba)\b[^,.;!?]*)",
        said("studies", "Has"),
    ),
    # Allergies, diet, health.
    (
        r"I(?:['’]m|\s+am)\s+(?:(?:also|really|very|severely|deathly|mildly|highly|so)\s+)*allergic\s+to\s+"
        + OBJECT,
        said("allergies", "Allergic to"),
    ),
    (
        r"I(?:['’]m|\s+am)\s+(?:not|no\s+longer)\s+allergic\s+to\s+" + OBJECT,
        said("allergies", "Not allergic to"),
    ),
    (
        r"I\s+(?:also\s+)?have\s+an?\s+(?:severe\s+|bad\s+|mild\s+)?(?P<o>[\w-]+(?:\s+\w+)?)\s+allergy\b",
        lambda match: claim("allergies", f"{match['o']} allergy"),
    ),
    (
        rf"(?:{I_AM}|I(?:['’]ve|\s+have)\s+been\s+)(?:an?\s+)?(?:strict\s+|lifelong\s+)?(?P<o>{of.DIET})\b",
        said("diet", "Is"),
    ),
    (
        rf"I(?:['’]m|\s+am)\s+(?:not|no\s+longer)\s+(?:an?\s+)?(?P<o>{of.DIET})\b",
        said("diet", "Is not"),
    ),
    (
        rf"{I_DO}(?:don['’]?t|do\s+not|can['’]?t|cannot|never|no\s+longer)\s+(?P<v>eat|drink|smoke)\s*"
        + OBJECT,
        lambda match: claim("diet", f"Does not {match['v'].lower()} {tidy(match['o'])}"),
    ),
    (
        rf"{I_HAVE}(?:quit|stopped|gave\s+up|given\s+up)\s+(?P<o>(?:smoking|drinking|eating|coffee|alcohol|sugar|meat|caffeine)\b[^,.;!?]*)",
        said("diet", "Gave up"),
    ),
    (
        rf"(?:{I_DO}(?:have|suffer\s+from|live\s+with)|I(?:['’]ve|\s+have)\s+got)\s+(?P<o>(?:[\w'’-]+\s+){{0,3}}?(?:{of.CONDITION})\b(?:\s+in\s+[^,.;!?]+)?)",
        said("health", "Has"),
    ),
    (
        rf"I(?:['’]ve\s+been|\s+was|\s+got|\s+have\s+been)\s+{ADVERB}diagnosed\s+with\s+" + OBJECT,
        said("health", "Diagnosed with"),
    ),
    (rf"{I_AM}(?:\w+\s+(?:weeks|months)\s+)?(?P<o>{of.HEALTH_STATE})\b", said("health", "Is")),
    (
        rf"{I_DO}(?P<o>(?:broke|sprained|tore|fractured|dislocated|injured)\s+my\s+[^,.;!?]+)",
        said("health", ""),
    ),
    (r"my\s+(?P<k>blood\s+type)\s+is\s+" + OBJECT, labelled("health")),
)
