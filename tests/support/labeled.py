"""Streams of posts that carry labels, for tests of `wordtide labels`.

A post is about one topic, sometimes about two: words of it among words that anybody uses, and
its name as a hashtag somewhere in the text.
"""

import json
import random
from collections import namedtuple
from datetime import datetime, timedelta

from running import wordtide

TOPICS = {
    "football": "goal match keeper striker penalty referee stadium league".split(),
    "cooking": "oven butter flour recipe sugar simmer onion garlic".split(),
    "space": "rocket orbit launch moon satellite astronaut planet telescope".split(),
    "music": "guitar drummer melody chorus concert album singer bass".split(),
    "garden": "seed tulip hedge lawn shovel compost rose sprout".split(),
    "chess": "bishop rook opening gambit endgame checkmate pawn castle".split(),
}
ANYBODY = "the a and of to it was is in on with for at by from this that".split()
SMALL = ["--vocab", 300, "--dim", 16, "--threads", 1, "--label-memory", "1M"]
FIT = ["--classifier", "cnn", "--label-each", 200, "--classifier-maps", 30,
       "--classifier-epochs", 40]  # a network, which is fitted when the stream ends

Post = namedtuple("Post", "time words tags")  # words with the place of each tag, as (place, tag)


def make_posts(seed, count, topics=TOPICS, begin="2020-01-01", hours=6, unlabeled=0.1):
    """Frequent topics first: each has fewer posts than the one before."""
    dice = random.Random(seed)
    names = list(topics)
    weights = [1 / (rank + 2) for rank in range(len(names))]
    time = datetime.fromisoformat(begin)
    posts = []
    for number in range(count):
        about = {*dice.choices(names, weights, k=2 if dice.random() < 0.2 else 1)}
        about = [name for name in names if name in about]
        words = [dice.choice(topics[dice.choice(about)] if dice.random() < 0.5 else ANYBODY)
                 for _ in range(dice.randint(5, 14))]
        tags = [] if dice.random() < unlabeled else [
            (dice.randint(0, len(words)), name) for name in about]
        posts.append(Post(time + number * timedelta(hours=hours), words, tags))
    return posts


def text_of(post, tag="#{}".format):
    """`tag` makes the text of a label; one that gives "" leaves it out."""
    words = [*post.words]
    for place, name in sorted(post.tags, reverse=True):
        words[place:place] = [tag(name)] if tag(name) else []
    return " ".join(words)


def labels_of(post):
    return {name for _, name in post.tags}


def as_lines(posts, tag="#{}".format):
    return "".join(text_of(post, tag) + "\n" for post in posts)


def as_json(posts, tag="#{}".format):
    """A post whose time is None has none."""
    return "".join(
        json.dumps({"at": post.time and f"{post.time.isoformat()}Z", "body": text_of(post, tag)})
        + "\n" for post in posts)


JSON_FIELDS = ["--records", "json", "--time", "at", "--text", "body"]


def labels(*arguments, code=0, **options):
    """`wordtide labels ...`, which must end with this code."""
    done = wordtide("labels", *arguments, **options)
    assert done.returncode == code, done.stderr
    return done


def objects(text):
    return [json.loads(line) for line in text.splitlines()]


def learned(model):
    """All that a model knows: labels and their posts, words, vectors, and what it tells."""
    texts = as_lines(make_posts(99, 20), tag=lambda name: "")
    return [labels("list", model, "--json").stdout,
            wordtide("words", model, "--json").stdout,
            wordtide("export", model, "--format", "word2vec").stdout,
            labels("predict", model, "--json", input=texts).stdout]
