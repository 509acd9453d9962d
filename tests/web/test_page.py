"""The page in a browser. The scenarios are in scenarios*.mjs; each of them is one test."""

import pytest

from conftest import needs_browser, scenarios

pytestmark = needs_browser


@pytest.mark.parametrize("name", scenarios())
def test_page(driver, name):
    result = driver(name)
    if result["skipped"]:
        pytest.skip(result["skipped"])
    assert not result["error"], result["error"]


def test_there_are_scenarios():
    assert len(scenarios()) > 10
