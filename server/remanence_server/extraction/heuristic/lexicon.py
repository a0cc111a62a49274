"""The words that say nothing about what a sentence is about."""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Function words. Negations are among them for counting topics; no sentence is ever cut at one.
STOP_WORDS = _words(
    """
    a about above across after again against ago ain't all almost along already also although
    always am among an and another any anybody anymore anyone anything anyway anywhere are
    aren't around as at away back be became because become been before behind being below beside
    besides between beyond both but by can can't cannot could couldn't did didn't do does
    doesn't doing don't done down during each either else enough especially etc even ever every
    everybody everyone everything everywhere except few for from further had hadn't has hasn't
    have haven't having he he'd he'll he's her here hers herself him himself his how however i
    i'd i'll i'm i've if in indeed inside instead into is isn't it it'd it'll it's its itself
    just kinda least less let let's like lot lots many may maybe me might mine more most mostly
    much must my myself near nearly neither never next no nobody none nor not nothing now of off
    often oh ok okay on once one ones only onto or other others ought our ours ourselves out
    outside over own per perhaps please plus quite rather really same several shall she she'd
    she'll she's should shouldn't since so some somebody someone something sometimes somewhere
    soon still such than that that'd that'll that's the their theirs them themselves then there
    there's these they they'd they'll they're they've this those though through throughout till
    to today together tomorrow tonight too toward towards truly two under unless until up upon
    us usually very via was wasn't we we'd we'll we're we've well were weren't what what's
    whatever when whenever where whether which while who whoever whole whom whose why will with
    within without won't would wouldn't yes yesterday yet you you'd you'll you're you've your
    yours yourself yourselves yeah yep yup nope gonna wanna gotta ya u ur im ive dont cant didnt
    doesnt isnt wasnt wont thats
    """
)

# Function words of other European languages, those that are no English words of content.
STOP_WORDS |= _words(
    """
    el la los las un una unos unas del que en con por para mi tu su mis tus sus está fue muy más
    pero como cuando donde lo le les al ya yo él ella nosotros hoy eso esta este uno y o e de il
    des une et ou qui dans avec pour mon ma mes ton tes ses est sont était très mais comme quand
    où je nous vous ils elle au aux du ce cette ne pas c'est j'ai sur der das den dem ein eine
    einen einem einer und oder mit für auf aus bei nach von zu zum zur im ist sind sehr aber wie
    wenn ich er sie wir ihr mein meine meinen meiner dein deine seine nicht auch noch schon habe
    haben os as uma uns em com meu minha é foi muito mas não eu ele gli della di che per mio mia
    sono è molto io noi non ho da и в не на я что с по это как а но мой моя у мы он она
    """
)

# Words of feeling, politeness and talk about talk: a sentence of these alone informs nobody.
FILLER_WORDS = _words(
    """
    absolutely agree agreed alright amazed amazing amen appreciate appreciated awesome aww awww
    bad beautiful best better bet blast bye brilliant care catch chat cheers clearly congrats
    congratulations cool crazy cute dear definitely delighted exactly excellent excited exciting
    fab fabulous fantastic fascinating fair fine fingers crossed fun funny glad good goodbye
    goodnight gorgeous great greatly guess guys haha hahaha happy hear hello hey heya hi hmm
    honest honestly hope hoping hopefully hug hugs huh idea impressed impressive incredible
    incredibly inspired inspiring interesting kind kindly know later lol lovely luck lucky
    luckily mean means morning nice no night ooh oops ouch perfect pleased pleasure pretty proud
    really relax right rewarding sad scary see serious seriously sharing sorry sound sounds
    special spot stuff stunning stoked super support supportive supporting supported sure sweet
    talk talking terrific thank thankful thanks thing things think thoughtful thrilled touching
    true totally understand understandable vibe vibes way welcome wish wishing wonderful wonder
    word words worry worries wow yay yikes bravo whoa woah hell heck gosh omg certainly surely
    completely exact
    """
)

# Common verbs, adverbs and adjectives: part of what a sentence says, never its topic.
COMMON_WORDS = _words(
    """
    able actually add added afraid alive allow allowed amount anticipate apart apparently appear
    arrive arrived asked asking ask aware basically began begin beginning believe belong big
    bigger bit bought bring bringing brings brought build building built busy buy buying call
    called calling calls came certain chance change changed changing check checked checking
    choose chose chosen clear close come comes coming complete consider considering continue
    couple cover current currently cut daily day days deal decide decided deep deeply depend
    describe despite different difficult discover discovered earlier early easier easily easy
    end ended ending enjoy enjoyed enjoying enjoys entire entirely escape eventually expect
    expected experience experienced explain explore explored exploring extra extremely fact fall
    far fast favorite favourite feel feeling feelings feels felt figure figured final finally
    find finding finds finish finished first fit follow following forget forgot forward found
    four free full fully future gave general get gets getting give given gives giving go goes
    going gone got gotten grateful grew grow growing guy half handle happen happened happening
    happens hard harder heard heart held help helped helpful helping helps hey high hit hold
    honor hour hours huge image imagine imagined important include included including inspire
    interested involved issue join joined joining keep keeping keeps kept kinds knew knowing
    known knows large last lately latest lead learn learned learning leave leaving led left life
    light likely liked likes list listen little live lived lives living long longer look looked
    looking looks lose lost love loved loves loving low made main make makes making manage
    managed matter meant meet meeting mention mentioned met mind minute minutes miss missed
    moment moments month months move moved moving natural nearby need needed needing needs new
    nice normal notice noticed number offer offered old older open opened opportunity order part
    particular particularly pass passed past pay people perfectly person personally pick picked
    picking place places plan planned planning plans play played plenty point possible present
    prepare probably problem provide pull push put putting question quick quickly quiet reach
    read ready real realise realised realize realized reason recent recently receive received
    recommend regular relate remember remembered remind reminded reminds reminder reply rest
    result return run running runs safe said save saw say saying says seeing seem seemed seems
    seen send sense sent set share shared shares short show showed showing shown side simple
    simply single sit small somehow sort speak spend spending spent spoke stand stands start
    started starting starts state stay stayed staying step stick stop stopped story strong stuck
    style suggest sure surprised surprising take taken takes taking talked taught tell telling
    tells ten thankfully think thinking thought thoughts three thrown time times tired told ton
    tons took top total touch tough tried true try trying turn turned turns type understanding
    unfortunately unique unlike update upset use used useful uses using usual value vary wait
    waited waiting walk want wanted wanting wants watch watched watching week weekend weekends
    weeks went whenever won wonderful wondering work worked working works world worth write
    wrong year years young younger photo picture shows difference happiness journey passion
    passionate motivated motivation positive positivity force impact energy beauty joy joyful
    dream dreams goal goals success successful strength strengths courage progress effort
    efforts challenge challenges growth determination determined perspective importance memories
    memory friend friends lined afterwards generic similar delicious peaceful tasty unexpected
    regional favorites favourites gift awesome adventure adventures interests interest advice
    tips tip suggestion suggestions recommendation recommendations option options team group
    bunch piece pieces ways example details detail information info possibility possibilities
    opportunities chances situation results yours nah mom's day's folks gal dude everyone's
    somebody's wild amazing perfect yummy cozy creative inspirational creativity freedom peace
    calm calming relaxing relaxed comfort comforting appreciated appreciation gratitude
    encouraging encouragement encourage encouraged supporting struggle struggles struggling
    overcome overcoming achieve achieved achieving accomplish accomplished proud pride joyous
    essential crucial anytime absolutely ahead meanwhile nowadays quite various super honestly
    literally pics pic photos pictures snapshot selfie thx btw imo ages january february march
    april june july august september october november december monday tuesday wednesday thursday
    friday saturday sunday saturdays sundays arrives fails studies hurts teaches owns drives
    eats drinks sleeps sings serves contains requires smells tastes opens closes begins ends
    asks answers explains buys sells sends breaks thinks hates plays moves leaves stays meets
    speaks reads writes sits waits tries becomes costs lasts fits belongs depends includes
    allows means matters fail study hurt teach own drive eat drink sleep sing serve contain
    require taste break broke broken cost repair repairs repaired loose picks holds green
    """
)

NOT_A_TOPIC = STOP_WORDS | FILLER_WORDS | COMMON_WORDS

FIRST_PERSON = _words(
    "i i'm i've i'd i'll im ive me my mine myself we we're we've we'd we'll us our ours"
)
SECOND_PERSON = _words("you you're you've you'd you'll your yours yourself u ur")
# Openers that point back: the sentence is about the one before it.
BACK_REFERENCES = _words(
    """
    it it's its they they're they've their them he he's his him she she's her this that that's
    these those there so then which also both
    """
)
