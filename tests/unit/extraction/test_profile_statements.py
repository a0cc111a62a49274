"""What counts as a statement about oneself, in English, Chinese, Japanese and Korean."""

from __future__ import annotations

import pytest

from remanence_server.extraction.heuristic.profile.claims import claims_of


@pytest.mark.parametrize(
    ("sentence", "category", "description"),
    [
        ("My name is Alice", "name", "Name: Alice"),
        ("I live in Graz", "home", "Lives in Graz"),
        ("i live in porto", "home", "Lives in porto"),
        ("Moved to Porto last week!", "home", "Lives in Porto"),
        ("I moved from Graz to Porto in March.", "home", "Lives in Porto"),
        ("I'm from Nairobi", "origin", "From Nairobi"),
        ("I grew up in a small town near Lyon", "origin", "Grew up in a small town near Lyon"),
        ("I work as a nurse at St. Mary's.", "work", "Works as a nurse at St. Mary's"),
        ("I'm a freelance illustrator", "work", "Works as a freelance illustrator"),
        ("I started working at Figma two weeks ago.", "work", "Works at Figma"),
        ("We run a small bakery", "work", "Runs a small bakery"),
        ("I'm studying geology in Leeds", "studies", "Studies geology in Leeds"),
        ("I speak Dutch and a little Greek", "languages", "Speaks Dutch and a little Greek"),
        ("I love climbing in Yosemite", "likes", "Loves climbing in Yosemite"),
        ("I like tea but not coffee.", "likes", "Likes tea but not coffee"),
        ("I don't like mushrooms.", "dislikes", "Dislikes mushrooms"),
        ("I can't stand loud restaurants", "dislikes", "Dislikes loud restaurants"),
        ("I'm not a fan of crowds", "dislikes", "Dislikes crowds"),
        ("I no longer like techno", "dislikes", "No longer likes techno"),
        ("My favorite tea is jasmine", "favourites", "Favourite tea: jasmine"),
        ("Blue is my favourite colour.", "favourites", "Favourite colour: Blue"),
        ("My sister Elif studies geology", "family", "Sister Elif studies geology"),
        ("My wife's name is Dana.", "family", "Wife: Dana"),
        ("I have two kids", "family", "Has two kids"),
        ("I'm married to Tom.", "family", "Married to Tom"),
        ("I have a dog named Max.", "pets", "Has a dog named Max"),
        ("I'm allergic to hazelnuts", "allergies", "Allergic to hazelnuts"),
        ("I'm not allergic to nuts", "allergies", "Not allergic to nuts"),
        ("I don't eat meat", "diet", "Does not eat meat"),
        ("I'm vegetarian", "diet", "Is vegetarian"),
        ("I have type 2 diabetes", "health", "Has type 2 diabetes"),
        ("My blood type is B negative.", "health", "Blood type: B negative"),
        ("I bike to work most days.", "habits", "Bikes to work most days"),
        ("I usually get up at six", "habits", "Usually gets up at six"),
        ("I play the violin", "hobbies", "Plays the violin"),
        ("I want to learn the cello", "goals", "Wants to learn the cello"),
        ("I'm moving to Porto next month", "plans", "Is moving to Porto next month"),
        ("My birthday is May 3rd", "birthday", "Birthday: May 3rd"),
        ("I'm 34 years old", "age", "34 years old"),
        ("My email is jo@example.org.", "contact", "Email: jo@example.org"),
        ("My dentist is Dr. Okafor", "details", "Dentist: Dr. Okafor"),
        ("我叫王芳", "name", "名字：王芳"),
        ("我昨天搬到了成都。", "home", "住在成都"),
        ("我对花生过敏", "allergies", "对花生过敏"),
        ("我不喜欢吃香菜", "dislikes", "不喜欢吃香菜"),
        ("我养了一只叫豆包的橘猫", "pets", "养了一只叫豆包的橘猫"),
        ("私は京都に住んでいます。", "home", "京都に住んでいます"),
        ("コーヒーが大好きです。", "likes", "コーヒーが大好き"),
        ("納豆は嫌いです。", "dislikes", "納豆は嫌い"),
        ("제 이름은 김민수입니다.", "name", "이름: 김민수"),
        ("저는 등산을 좋아해요.", "likes", "등산을 좋아해요"),
        ("지난달에 부산으로 이사했어요.", "home", "부산에 살아요"),
    ],
)
def test_a_statement_is_read(sentence: str, category: str, description: str) -> None:
    assert [(claim.category, claim.description) for claim in claims_of(sentence)] == [
        (category, description)
    ]


@pytest.mark.parametrize(
    "sentence",
    [
        "If I lived in Paris, I would love the bread.",
        "Do I live in Porto?",
        "Do you like Porto?",
        'She said "I live in Rome".',
        "He told me that I live in a bubble.",
        "I used to live in Berlin.",
        "I wish I lived in Norway.",
        "Maybe I work for a crazy company.",
        "I am not a nurse.",
        "My name is not Bob.",
        "I'm not married.",
        "I don't think I like sushi.",
        "I love it!",
        "I love your necklace",
        "I love this city.",
        "I want to thank you",
        "I'm so proud of you",
        "I live in Rome, just kidding",
        "My day is going well.",
        "I have a question.",
        "如果我住在北京就好了",
        "她说我喜欢你",
        "你喜欢爬山吗？",
        "彼は寿司が好きです。",
        "もし京都に住んでいたら",
        "그는 축구를 좋아해요.",
        "",
    ],
)
def test_hypotheticals_questions_quotes_and_negations_are_no_statements(sentence: str) -> None:
    assert claims_of(sentence) == ()


def test_one_sentence_may_state_several_things() -> None:
    claims = claims_of("My name is Alice and I work as a nurse, but I hate night shifts.")
    assert [claim.description for claim in claims] == [
        "Name: Alice",
        "Works as a nurse",
        "Dislikes night shifts",
    ]


def test_what_stands_before_a_question_tag_is_a_statement() -> None:
    (claim,) = claims_of("I live in Porto, do you know it?")
    assert claim.description == "Lives in Porto"


@pytest.mark.parametrize("sentence", ["I quit my job", "I no longer live in Graz", "我辞职了"])
def test_what_is_over_is_marked(sentence: str) -> None:
    assert [claim.ends for claim in claims_of(sentence)] == [True]
