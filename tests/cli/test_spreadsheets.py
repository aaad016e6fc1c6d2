"""What a transcript says is run by no spreadsheet and steers no terminal."""

import csv
import io

import pytest

FORMULAS = ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1"]


def cells(text):
    return [row[0] for row in csv.reader(io.StringIO(text, newline=""))][1:]


@pytest.mark.parametrize("text", FORMULAS)
def test_a_formula_is_quoted_on_request_and_else_as_it_was_found(text, terminal):
    quoted = text.replace("\t", "' || chr(9) || '").replace("\r", "' || chr(13) || '")
    query = f"select '{quoted}' as said"
    assert terminal("sql", query, "--csv", "--csv-safe") == 0
    assert cells(terminal.out) == [f"'{text}"]
    assert terminal("sql", query, "--csv") == 0
    assert cells(terminal.out) == [text]


def test_numbers_stay_numbers(terminal):
    terminal("sql", "select -1 as n, 'plain' as said", "--csv", "--csv-safe")
    assert terminal.out == "n,said\n-1,plain\n"
