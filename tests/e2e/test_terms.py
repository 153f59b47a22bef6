"""On which terms a module is fetched: those of its section, and by hand no others."""
import pytest
from test_pull import FETCH, RESULTS, SHA256, works

pytestmark = pytest.mark.skipif(
    not FETCH.exists(), reason="modserd-fetch is not built: libcurl was absent")
URI = f"file://{RESULTS}"


@pytest.fixture
def configured(own_daemon, folder):
    """configured(keys): a daemon whose module `m` has a source that has nothing, and @keys."""

    def start(keys, *words):
        text = f"module m {{ source = 'file://{folder}/nothing' {keys} }}\n"
        (folder / "m.conf").write_text(text)
        return own_daemon("--config", folder / "m.conf", "--store", folder / "store",
                          "--fetch-retry", "5ms", *words)

    return start


def expect_refused(daemon, *words):
    said = daemon.modser("pull", *words)
    assert said.status == 7 and "NOT_VERIFIED" in said.err, said


def test_a_pull_by_hand_follows_the_policy_of_the_modules_section(configured):
    daemon = configured("policy = digest")
    expect_refused(daemon, "m", URI)
    daemon.ok("pull", "n", URI)
    daemon.ok("pull", "--sha256", SHA256, "m", URI)
    assert works(daemon, "m") and works(daemon, "n")


def test_what_the_store_has_is_not_signed_for_that(configured):
    daemon = configured("policy = signed")
    daemon.ok("pull", "n", URI)
    expect_refused(daemon, "--sha256", SHA256, "m", URI)


def test_a_section_may_take_more_than_the_others(configured):
    daemon = configured("policy = unsigned", "--policy", "digest")
    expect_refused(daemon, "n", URI)
    daemon.ok("pull", "m", URI)
    assert works(daemon, "m")
