#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/journal.h"

static void expect_entry(const char *line, const char *fields)
{
	char entry[1024] = {0};
	const size_t n = msd_journal_entry(line, strlen(line), entry, sizeof(entry));
	const char *rest = strstr(entry, line + 3); /* MESSAGE is the line */

	cr_assert_gt(n, 0, "%s", line);
	cr_assert_not_null(rest, "%s", entry);
	cr_expect_str_eq(rest + strlen(line + 3) + 1, fields, "%s", line);
}

Test(journal, each_key_is_a_field)
{
	char entry[1024] = {0};
	const char *line = "<4>event=worker_restart name=m in_ms=100";

	cr_assert_gt(msd_journal_entry(line, strlen(line), entry, sizeof(entry)), 0);
	cr_expect_str_eq(entry, "PRIORITY=4\nSYSLOG_IDENTIFIER=modserd\n"
				"MESSAGE=event=worker_restart name=m in_ms=100\n"
				"MODSERD_EVENT=worker_restart\nMODSERD_MODULE=m\n"
				"MODSERD_IN_MS=100\n");
}

Test(journal, what_stands_in_quotes_is_one_value)
{
	expect_entry("<6>event=connection_open user=\"a b\" peer=\"\\\"x\\\" name=y\" "
		     "way=unix ",
		     "MODSERD_EVENT=connection_open\nMODSERD_USER=a b\n"
		     "MODSERD_PEER=\\\"x\\\" name=y\nMODSERD_WAY=unix\n");
	expect_entry("<6>event=end user=\"", "MODSERD_EVENT=end\nMODSERD_USER=\n");
	expect_entry("<6>event=end user=\"a\\",
		     "MODSERD_EVENT=end\nMODSERD_USER=a\\\n");
}

Test(journal, a_reason_is_all_that_follows)
{
	expect_entry("<3>event=died name=m why=\"it said \"no\" name=other user=root\"",
		     "MODSERD_EVENT=died\nMODSERD_MODULE=m\n"
		     "MODSERD_WHY=it said \"no\" name=other user=root\n");
}

Test(journal, the_first_of_two_counts)
{
	expect_entry("<6>event=a name=m name=n event=b",
		     "MODSERD_EVENT=a\nMODSERD_MODULE=m\n");
}

Test(journal, what_is_no_pair_ends_the_fields)
{
	expect_entry("<6>event=a Free words name=m", "MODSERD_EVENT=a\n");
	expect_entry("<6>event=a b", "MODSERD_EVENT=a\n");
}

Test(journal, other_lines_and_too_long_ones_are_left)
{
	char entry[64];

	cr_expect_eq(msd_journal_entry("", 0, entry, sizeof(entry)), 0);
	cr_expect_eq(msd_journal_entry("words", 5, entry, sizeof(entry)), 0);
	cr_expect_eq(msd_journal_entry("<6>event=worker_restart name=m in_ms=1", 38,
				       entry, sizeof(entry)),
		     0);
}

Test(journal, is_there_where_the_variable_says_what_standard_error_is)
{
	cr_assert_eq(unsetenv("JOURNAL_STREAM"), 0);
	cr_expect_not(msd_journal_is_there());
	cr_assert_eq(setenv("JOURNAL_STREAM", "1:2", 1), 0);
	cr_expect_not(msd_journal_is_there());
}
