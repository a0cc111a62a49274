"""Generated lines are broken as a formatter would."""

from __future__ import annotations

from remanence_generator.emit.layout import laid_out


def test_a_short_line_stays() -> None:
    assert laid_out(["x = f(a, b)"]) == ["x = f(a, b)"]


def test_a_long_call_is_opened_and_its_arguments_stand_together_if_they_fit() -> None:
    arguments = ", ".join(["argument_number_one"] * 4)
    line = f"    result_of_the_call = function({arguments})"
    assert laid_out([line]) == [
        "    result_of_the_call = function(",
        f"        {arguments}",
        "    )",
    ]


def test_arguments_that_do_not_fit_stand_one_a_line() -> None:
    line = f"x = f({'a' * 60}, g({'b' * 20}, c), {'d' * 40})"
    assert laid_out([line]) == [
        "x = f(",
        f"    {'a' * 60},",
        f"    g({'b' * 20}, c),",
        f"    {'d' * 40},",
        ")",
    ]


def test_brackets_and_commas_inside_texts_are_text() -> None:
    line = f'x: Annotated[str, Field(pattern="[a\\"(,{"p" * 60}"), refused("{"q" * 40}")]'
    assert laid_out([line]) == [
        "x: Annotated[",
        "    str,",
        f'    Field(pattern="[a\\"(,{"p" * 60}"),',
        f'    refused("{"q" * 40}"),',
        "]",
    ]


def test_a_definition_is_broken_at_its_parameters() -> None:
    line = f"def {'f' * 40}(pb: {'A' * 30}, zone: tzinfo) -> dict[str, Any]:"
    assert laid_out([line]) == [
        f"def {'f' * 40}(",
        f"    pb: {'A' * 30}, zone: tzinfo",
        ") -> dict[str, Any]:",
    ]


def test_prose_is_left_alone() -> None:
    prose = ['    """Long (very, very) ' + "x" * 100, "    more (of, it) " + "y" * 100, '    """']
    assert laid_out(prose) == prose
    comment = ["# f(" + "z" * 120 + ")"]
    assert laid_out(comment) == comment
