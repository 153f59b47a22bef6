"""Whoever is killed in the midst of an update, the old edition or the new one serves."""
import harness
import pytest
from kills import Rounds

ROUNDS = 12  # kills.py has more

pytestmark = pytest.mark.skipif(
    not (harness.BIN / "modserd-fetch").exists(),
    reason="modserd-fetch is not built: libcurl was absent")


@pytest.mark.parametrize("seed", [1, 2])
def test_an_update_that_is_cut_short_leaves_the_old_or_the_new(seed):
    rounds = Rounds(seed)
    try:
        for _ in range(ROUNDS):
            rounds.run()
    finally:
        rounds.end()
    assert sum(rounds.counts[who] for who in ("supervisor", "fetch", "worker")) > 0
