"""Rules for what somebody likes, has, does and is after.

A rule is matched at the start of a first-person clause, so "I" and "my" are where it begins, and
the first that matches has the clause. Chat is written in lower case too: where a name is needed the
renderers check for capitals.
"""

# A row is a table row: broken up further, the patterns are harder to compare.
# ruff: noqa: E501

from __future__ import annotations

from remanence_server.extraction.heuristic.profile import vocabulary as of
from remanence_server.extraction.heuristic.profile.english_clauses import (
    ADVERB,
    I_AM,
    I_DO,
    I_HAVE,
    NOT_A_THING,
    OBJECT,
    WE,
)
from remanence_server.extraction.heuristic.profile.renderers import (
    Rule,
    favourite,
    habit,
    labelled,
    relative,
    rules,
    said,
    status,
    verb,
)

_FREQUENCY = (
    r"(?:every\s+(?:single\s+)?(?:other\s+)?\w+|most\s+(?:days|mornings|evenings|nights|weekends)|"
    r"on\s+(?:weekends|weekdays|\w+days)|(?:once|twice|\w+\s+times)\s+(?:a|per)\s+\w+|each\s+\w+|"
    r"daily|weekly|monthly)"
)
_DO_NOT = (
    r"(?:don['’]?t|do\s+not|never|can['’]?t|cannot|no\s+longer|won['’]?t|didn['’]t\s+use\s+to)"
)

TASTE_RULES: tuple[Rule, ...] = rules(
    # Likes and dislikes.
    (
        rf"{I_DO}(?:no\s+longer|don['’]?t|do\s+not)\s+(?:really\s+)?(?:like|enjoy|love)\s+(?P<o>[^,.;!?]+?)\s+(?:any\s?more|anymore)\b",
        said("dislikes", "No longer likes"),
    ),
    (
        rf"{I_HAVE}(?:no\s+longer\s+(?:like|enjoy|love)|stopped\s+(?:liking|enjoying)|gone\s+off)\s+{NOT_A_THING}"
        + OBJECT,
        said("dislikes", "No longer likes"),
    ),
    (
        rf"{I_DO}{_DO_NOT}\s+(?:really\s+|even\s+|much\s+)?(?:like|enjoy|love|care\s+for|stand|bear)\s+{NOT_A_THING}"
        + OBJECT,
        said("dislikes", "Dislikes"),
    ),
    (
        rf"{I_DO}(?:hate|dislike|detest|loathe|despise)\s+{NOT_A_THING}" + OBJECT,
        said("dislikes", "Dislikes"),
    ),
    (
        rf"I(?:['’]m|\s+am)\s+(?:really\s+|just\s+)?not\s+(?:an?\s+(?:big\s+|huge\s+)?fan\s+of|(?:that\s+|really\s+|much\s+)?into|fond\s+of|keen\s+on)\s+{NOT_A_THING}"
        + OBJECT,
        said("dislikes", "Dislikes"),
    ),
    (rf"{I_DO}(?P<v>love|like|enjoy|adore|prefer)\s+{NOT_A_THING}" + OBJECT, verb("likes")),
    (
        rf"{I_AM}(?:an?\s+(?:big\s+|huge\s+|massive\s+)?fan\s+of|(?:so\s+|really\s+)?into|fond\s+of|keen\s+on|obsessed\s+with|passionate\s+about|crazy\s+about)\s+{NOT_A_THING}"
        + OBJECT,
        said("likes", "Likes"),
    ),
    (
        r"my\s+(?:all[- ]time\s+|absolute\s+)?favou?rite\s+(?P<k>[\w'’ -]{2,40}?)(?:\s+(?:is|are|has\s+to\s+be|would\s+be)|['’]s)\s+(?:definitely\s+|probably\s+|still\s+|now\s+)?"
        + OBJECT,
        favourite,
    ),
    # Family and animals.
    (
        rf"I(?:['’]ve\s+got|\s+{ADVERB}have)\s+(?P<o>(?:an?|one|two|three|four|five|six|\d+|no)\s+(?:[\w-]+\s+){{0,2}}?(?:{of.CHILDREN})\b[^.!?;]*)",
        said("family", "Has"),
    ),
    (
        rf"{I_AM}(?:happily\s+)?(?P<o>(?:married|engaged)(?:\s+to\s+[^,.;!?]+)?|single|divorced|widowed|separated)\s*(?=[,.;!?]|$|\band\b|\bwith\b)",
        status,
    ),
    (rf"{WE}(?:got|are|were)\s+(?P<o>(?:married|engaged|divorced)(?:\s+to\s+[^,.;!?]+)?)", status),
    (
        rf"(?:I|We)(?:['’]ve\s+(?:got|adopted)|\s+{ADVERB}(?:have|own|got|adopted|rescued))\s+(?:(?:also|just)\s+)?(?P<o>(?:an?|one|two|three|four|five|\d+)\s+(?:[\w-]+\s+){{0,3}}?(?:{of.PET})\b(?:,?\s+(?:named|called)\s+[^.!?;()]+)?)",
        said("pets", "Has"),
    ),
    (
        rf"my\s+(?:\w+\s+)?(?P<k>{of.PET})(?:['’]s\s+name\s+is|\s+is\s+(?:named|called)|,|\s+(?:named|called))?\s+(?P<o>(?-i:[A-Z])[\w'’-]+(?:\s+and\s+(?-i:[A-Z])[\w'’-]+)?)",
        labelled("pets"),
    ),
    (
        rf"my\s+(?P<r>(?:(?:older|younger|little|big|twin|late|elder|eldest|youngest|oldest|only)\s+)?(?:{of.RELATIVE}))"
        r"(?:['’]s\s+name\s+is|\s+is\s+(?:named|called)|,)?(?:\s+(?P<n>(?-i:[A-ZÀ-Þ])[\w'’-]+))?,?"
        r"(?P<rest>\s+(?:works|lives|studies|teaches|plays|owns|runs|moved|died|passed\s+away|turned|loves|likes|hates|speaks|"
        r"has|was\s+born|got\s+married|is\s+(?:an?\s|in\s|from\s|\d|allergic|pregnant|the\s|getting\s+married|turning)|are\s+(?:from|both|in)\s)[^.!?;]*)?",
        relative,
    ),
    # What they do and what they are after.
    (
        rf"I\s+(?:(?:(?P<f>usually|always|often|never|rarely|sometimes|hardly ever)|also|still|just|try to)\s+)*(?P<v>{of.HABIT_VERB})\b(?P<o>[^.!?;\n]*?\b{_FREQUENCY}\b[^.!?;,\n]*)",
        habit,
    ),
    (
        rf"I\s+(?:also\s+)?(?P<f>usually|always|often|never|rarely|hardly ever)\s+(?P<v>{of.HABIT_VERB})\s+"
        + OBJECT,
        habit,
    ),
    (
        r"I\s+(?:also\s+)?(?P<v>play|collect)\s+(?!with\b|it\b|that\b|a\s+lot\b|around\b)" + OBJECT,
        verb("hobbies"),
    ),
    (
        r"my\s+(?:main\s+|favou?rite\s+)?hobb(?:y|ies)\s+(?:is|are|include)\s+" + OBJECT,
        said("hobbies", "Hobbies:"),
    ),
    (
        rf"(?:{I_HAVE}(?:took\s+up|taken\s+up|picked\s+up|started)|{I_AM}learning(?:\s+how)?)\s+(?P<o>(?:to\s+(?:play|paint|sew|knit|cook|dance|surf|ski|sail|swim|code|draw|ride|drive|weave)|pottery|painting|climbing|running|yoga|surfing|knitting|gardening|woodworking|photography|boxing|dancing|swimming|cycling|drawing|weaving|the\s+\w+)\b[^,.;!?]*)",
        said("hobbies", "Took up"),
    ),
    (
        rf"{I_DO}(?:want|hope|plan|intend|aim|would\s+love|would\s+like)\s+to\s+(?P<o>(?:{of.GOAL_VERB})\b[^.!?;]*)",
        said("goals", "Wants to"),
    ),
    (
        rf"I['’]d\s+(?:really\s+)?(?:love|like)\s+to\s+(?P<o>(?:{of.GOAL_VERB})\b[^.!?;]*)",
        said("goals", "Wants to"),
    ),
    (
        rf"{I_AM}(?:planning|hoping|aiming|saving\s+up|determined|thinking\s+of\s+going)\s+to\s+"
        + OBJECT,
        said("goals", "Plans to"),
    ),
    (
        rf"{I_AM}(?P<o>(?:saving\s+up|training|preparing|saving)\s+for\s+[^.!?;]+)",
        said("goals", "Is"),
    ),
    (rf"{I_AM}(?P<o>(?:moving|relocating)\s+(?:back\s+)?to\s+[^.!?;]+)", said("plans", "Is")),
    (
        rf"{I_AM}(?P<o>working\s+on\s+(?:an?|my|the)\s+(?:new\s+|first\s+|own\s+)?(?:novel|book|thesis|phd|album|screenplay|script|paper|game|app|film|painting|startup|dissertation)\b[^.!?;]*)",
        said("goals", "Is"),
    ),
    (
        r"my\s+(?:(?:main|biggest|big|new\s+year['’]s|long-term|next)\s+)?(?P<k>goal|dream|ambition|resolution|plan)(?:\s+for\s+\w+)?\s+is\s+"
        + OBJECT,
        labelled("goals"),
    ),
    # How to reach them, and whatever else is theirs and has a value.
    (
        r"my\s+(?P<k>(?:work\s+|home\s+|new\s+|personal\s+)?(?:e-?mail(?:\s+address)?|phone(?:\s+number)?|mobile(?:\s+number)?|number|address|postcode|zip\s+code|telegram|instagram|twitter|github|handle))\s+is\s+"
        + r"(?P<o>\S+(?:\s+[^.!?;]+?)?)(?=[.!?;]?\s*$|,?\s+(?:and|but)\b|,\s|[.!?;]\s)",
        labelled("contact"),
    ),
    (
        r"my\s+(?P<k>(?!(?:\w+\s+)?(?:favou?rite|day|question|point|problem|heart|mind|head|issue|guess|opinion|thought|answer|idea|life|goal|bad|fault|week|name|turn|only|biggest|feeling)\b)[a-z][\w'’-]*(?:\s+[a-z][\w'’-]*){0,2})\s+is\s+(?!(?:so|very|really|not|going|getting|too|in|on|just|still|always|that|to|a\s+bit|great|good|pretty|also|now)\b)"
        + OBJECT,
        labelled("details", needs_substance=True),
    ),
)
