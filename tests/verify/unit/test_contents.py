"""What memory holds in a simulated run, against a list that is looked through from end to end."""

from random import Random

from memopt.verify.simulate import Content, Contents


def _draw(random: Random, step: int) -> Content:
    start = random.randrange(40)
    memory = random.choice(["arena", "arena", "slow", "object1"])
    return Content(None, memory, start, start + random.randint(1, 12), step + random.randrange(6))


def test_as_a_list_of_all_that_lives() -> None:
    met = 0
    for seed in range(300):
        random = Random(seed)
        live, plain = Contents(), list[Content]()
        for step in range(25):
            live.expire(step)
            plain = [c for c in plain if c.last >= step]
            for _ in range(random.randint(1, 4)):
                new = _draw(random, step)
                wanted = [
                    c
                    for c in plain
                    if c.memory == new.memory and c.start < new.end and new.start < c.end
                ]
                assert live.in_the_way(new) == wanted
                met += len(wanted)
                if len(wanted) < 3:
                    live.add(new)
                    plain.append(new)
    assert met > 10_000
