"""Lists of neighbors, which two programs may order differently where rounding decides."""


def assert_same_ranking(found, wanted, tolerance):
    """Both are lists of (word, score), best first. `wanted` is the longer one where there are more words, so that
    it has those that are as near as the last of `found`."""
    scores = dict(wanted)
    assert len({word for word, _ in found}) == len(found) <= len(wanted)
    for (word, score), (_, due) in zip(found, wanted):
        assert word in scores, (word, found, wanted)
        assert abs(score - due) < tolerance and abs(score - scores[word]) < tolerance, (word, found, wanted)
