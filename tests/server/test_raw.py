"""Malformed or ambiguous HTTP is rejected, and nothing after it is answered."""

import re

import pytest
from raw_cases import CASES, EITHER, REFUSED
from serving import read_all

BEHIND = b"GET /v1/models HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"


@pytest.mark.parametrize("name", CASES)
def test_ambiguous_requests_are_rejected(server, name):
    request, owed = CASES[name]
    connection = server.connect()
    try:
        connection.sendall(request + BEHIND)
    except ConnectionError:
        pass  # rejected before all of it was sent
    got, closed = read_all(connection)
    connection.close()
    statuses = [int(status) for status in re.findall(rb"HTTP/1\.[01] (\d{3})", got)]
    assert closed
    if owed == REFUSED or owed == EITHER and statuses[:1] != [200]:
        assert all(400 <= status <= 505 for status in statuses), got
        assert b"owned_by" not in got
    else:
        assert statuses and set(statuses) == {200}, got
        assert got.count(b"owned_by") == 1


def test_the_list_of_cases_is_complete():
    assert sum(owed == REFUSED for _, owed in CASES.values()) >= 60
    assert sum(owed == EITHER for _, owed in CASES.values()) == 8
