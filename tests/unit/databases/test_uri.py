from __future__ import annotations

from urllib.parse import quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundql.databases.uri import HIDDEN, is_uri, read_uri, redact
from groundql.errors import InputError


def test_hosts_and_database_are_read() -> None:
    address = read_uri("mongodb://ann:pw1234@one:27018,two/comics?replicaSet=r&authSource=admin")
    assert address.hosts == "one:27018,two:27017"
    assert address.database == "comics"
    assert "pw1234" not in repr(address)


def test_a_name_to_be_looked_up_is_read_without_looking_it_up() -> None:
    address = read_uri("mongodb+srv://ann:pw1234@cluster.example.net/comics")
    assert address.hosts == "cluster.example.net:27017"
    assert address.database == "comics"


@pytest.mark.parametrize("text", ["mongodb://h", "mongodb+srv://h"])
def test_connection_strings_are_recognised(text: str) -> None:
    assert is_uri(text)


@pytest.mark.parametrize("text", ["./folder", "heroes.json", "postgresql://h/d", "", "mongodb.json"])
def test_other_things_are_not_taken_for_connection_strings(text: str) -> None:
    assert not is_uri(text)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("mongodb://ann:secret@h/d", f"mongodb://{HIDDEN}@h/d"),
        ("error at mongodb+srv://ann:p%40ss@h: no", f"error at mongodb+srv://{HIDDEN}@h: no"),
        ("mongodb://ann:p@ss/w@h/d", f"mongodb://{HIDDEN}@h/d"),
        (
            "mongodb://h/d?tlsCertificateKeyFilePassword=abc&x=1",
            f"mongodb://h/d?tlsCertificateKeyFilePassword={HIDDEN}&x=1",
        ),
        (
            "mongodb://h/?authMechanismProperties=AWS_SESSION_TOKEN:abc",
            f"mongodb://h/?authMechanismProperties={HIDDEN}",
        ),
        ("postgresql://ann:secret@h/d", f"postgresql://{HIDDEN}@h/d"),
        ("mail ann@example.com, no string here", "mail ann@example.com, no string here"),
    ],
)
def test_secrets_of_connection_strings_are_hidden_in_any_text(text: str, shown: str) -> None:
    assert redact(text) == shown


def test_a_password_is_hidden_raw_and_decoded_wherever_it_turns_up() -> None:
    address = read_uri("mongodb://ann:p%40ss%2Fword@h/d?tlsCertificateKeyFilePassword=key%20pass")
    said = address.redact("p@ss/word and p%40ss%2Fword and key pass, but the host h")
    assert said == f"{HIDDEN} and {HIDDEN} and {HIDDEN}, but the host h"


@given(st.text(min_size=3, max_size=20).filter(lambda p: p.isprintable() and " " not in p and len(set(p)) > 2))
def test_no_password_survives(password: str) -> None:
    uri = f"mongodb://ann:{quote_plus(password)}@h.example/d"
    address = read_uri(uri)
    for text in (uri, f"failed for '{password}'", f"failed for {quote_plus(password)}"):
        said = address.redact(text)
        assert HIDDEN in said
        assert password not in said.replace(HIDDEN, "")
        assert quote_plus(password) not in said.replace(HIDDEN, "")


def complaint(uri: str) -> str:
    try:
        read_uri(uri)
    except InputError as error:
        return str(error)
    return ""


@given(st.text(max_size=40))
def test_any_text_is_read_or_refused_with_one_line(text: str) -> None:
    for uri in (text, "mongodb://" + text, "mongodb://ann:" + text + "@h/d"):
        assert "\n" not in complaint(uri)


def test_what_the_string_says_itself_is_not_overridden() -> None:
    assert "serverSelectionTimeoutMS" not in read_uri("mongodb://h/?serverSelectionTimeoutMS=5").connection_options(1)
    assert read_uri("mongodb://h/").connection_options(1.5)["serverSelectionTimeoutMS"] == 1500
