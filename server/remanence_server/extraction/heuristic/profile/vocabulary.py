"""Word lists behind the English rules, as alternatives for regular expressions."""

from __future__ import annotations


def _any_of(words: str) -> str:
    return "|".join(sorted(words.split(), key=len, reverse=True)).replace("_", r"[\s-]")


RELATIVE = _any_of(
    """
    wife husband partner girlfriend boyfriend fiancé fiancée fiance fiancee spouse ex mother mom mum
    father dad parents sister brother siblings son daughter kid kids child children sons daughters
    baby twins grandmother grandma grandfather grandpa grandparents granddaughter grandson aunt
    uncle cousin cousins niece nephew stepson stepdaughter stepmother stepfather mother_in_law
    father_in_law sister_in_law brother_in_law roommate flatmate best_friend sisters brothers
    """
)
CHILDREN = _any_of(
    """
    kids? children child sons? daughters? sisters? brothers? siblings? twins grandchildren
    grandsons? granddaughters? nieces? nephews? wife husband girlfriend boyfriend partner fiancée?
    stepsons? stepdaughters? cousins? toddlers? bab(?:y|ies)
    """
)
PET = _any_of(
    """
    dogs? cats? pupp(?:y|ies) kittens? rabbits? bunn(?:y|ies) hamsters? guinea_pigs? parrots?
    budgies? tortoises?
    parakeets? canar(?:y|ies) turtles? gold_?fish fish snakes? lizards? geckos? horses?
    pon(?:y|ies) chickens? goats? retrievers? labradors? poodles? beagles? corgis? terriers? huskies
    husky dachshunds? shepherds? spaniels? bulldogs? pugs? collies? tabby ferrets? iguanas?
    chinchillas? cockatiels? hedgehogs? bees
    """
)
PROFESSION = _any_of(
    """
    nurse teacher doctor physician surgeon dentist engineer developer programmer designer architect
    lawyer attorney paralegal accountant auditor chef cook baker barista waiter waitress bartender
    writer author journalist editor poet translator interpreter librarian musician singer composer
    dj actor actress dancer artist painter illustrator photographer sculptor potter filmmaker
    director producer scientist researcher biologist chemist physicist mathematician geologist
    economist statistician analyst consultant manager administrator secretary receptionist
    assistant technician mechanic electrician plumber carpenter welder builder farmer gardener
    florist fisherman pilot driver captain sailor soldier officer policeman policewoman firefighter
    paramedic pharmacist therapist psychologist psychiatrist physiotherapist counsellor counselor
    nutritionist coach trainer instructor tutor professor lecturer principal veterinarian vet
    hairdresser barber tailor cleaner cashier clerk salesperson salesman realtor banker broker
    entrepreneur founder freelancer contractor recruiter marketer strategist planner social_worker
    midwife optician astronomer archaeologist historian philosopher priest pastor nun monk student
    apprentice intern nanny babysitter caregiver carer judge detective guard courier plumber
    radiologist cardiologist paediatrician pediatrician neurologist anaesthetist sommelier brewer
    """
)
BUSINESS = _any_of(
    """
    shop store bakery restaurant café cafe bar company business studio startup clinic farm agency
    blog podcast gallery gym salon hotel hostel bookshop bookstore firm practice brewery winery
    school nursery label boutique consultancy channel foundation charity
    """
)
CONDITION = _any_of(
    """
    diabetes asthma arthritis migraines? anxiety depression adhd add epilepsy hypertension
    high_blood_pressure low_blood_pressure celiac_disease coeliac_disease crohn's ibs eczema
    psoriasis insomnia cancer autism dyslexia scoliosis anemia anaemia lupus endometriosis tinnitus
    back_pain bad_back bad_knees? bad_knee hay_fever sleep_apnea sleep_apnoea vertigo ptsd ocd
    bipolar_disorder hypothyroidism hyperthyroidism lactose_intolerance gluten_intolerance gout
    osteoporosis glaucoma fibromyalgia heart_condition heart_disease pacemaker sciatica rosacea
    """
)
HEALTH_STATE = _any_of(
    """
    diabetic asthmatic pregnant lactose_intolerant gluten_intolerant colou?r_?blind deaf blind
    epileptic autistic celiac coeliac left_handed anaemic anemic dyslexic hypertensive short_sighted
    nearsighted hard_of_hearing
    """
)
DIET = _any_of("vegan vegetarian pescatarian teetotal flexitarian teetotaller")
LANGUAGE = _any_of(
    """
    English Spanish French German Italian Portuguese Dutch Swedish Norwegian Danish Finnish Polish
    Czech Russian Ukrainian Greek Turkish Arabic Hebrew Persian Farsi Hindi Urdu Bengali Tamil
    Chinese Mandarin Cantonese Japanese Korean Vietnamese Thai Indonesian Malay Swahili Hungarian
    Romanian Bulgarian Serbian Croatian Irish Welsh Catalan Basque Latin Esperanto sign_language
    """
)
# Verbs that make "I … every week" a habit and not a remark.
HABIT_VERB = _any_of(
    """
    bike cycle run jog walk swim go drink eat cook bake play read write practice practise meditate
    train wake get visit call volunteer exercise commute drive take do study watch have teach climb
    hike paint draw journal fast sing dance garden ski surf sail row travel fly work pray donate
    attend meet host skip avoid sleep nap stretch lift knit sew fish babysit stream listen
    """
)
# "I want to …" is a goal with these, and talk with others ("say thanks", "ask", "make sure").
GOAL_VERB = _any_of(
    """
    learn become visit buy start open build run write travel move get_better improve lose quit
    finish be go find create save study train adopt publish retire climb hike teach record launch
    apply graduate work volunteer sell renovate grow have see read complete cycle sail swim paint
    compose earn pass reach win stop reduce eat cook try spend switch change join return organise
    organize set_up expand
    """
)
