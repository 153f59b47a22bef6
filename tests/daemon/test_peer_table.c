#include <criterion/criterion.h>

#include "daemon/supervisor/request/peer_table.h"

struct row {
	struct msd_peer_entry peer;
	unsigned n;
};

static struct row rows[3];

static struct msd_peer_id user(uint64_t uid)
{
	return (struct msd_peer_id){.kind = MSD_PEER_USER, .value = uid};
}

static unsigned add(uint64_t uid, uint64_t now)
{
	struct row *row = MSD_PEER_TABLE_GET(rows, user(uid), now);

	cr_assert(msd_peer_id_is(row->peer.who, user(uid)));
	cr_expect_eq(row->peer.used, now);
	return ++row->n;
}

static bool has(uint64_t uid)
{
	return MSD_PEER_TABLE_FIND(rows, user(uid)) != NULL;
}

Test(peer_table, keeps_the_entry_of_a_peer)
{
	cr_expect_not(has(1));
	cr_expect_eq(add(1, 0), 1);
	cr_expect_eq(add(2, 0), 1);
	cr_expect_eq(add(1, 5), 2);
	cr_expect(has(1) && has(2));
	cr_expect_not(has(3));
}

Test(peer_table, replaces_the_entry_that_was_used_longest_ago)
{
	for (uint64_t uid = 1; uid <= 3; uid++)
		(void)add(uid, uid);
	(void)add(1, 4);
	cr_expect_eq(add(9, 5), 1, "all of the old entry is gone");
	cr_expect_not(has(2));
	cr_expect(has(1) && has(3) && has(9));
}

Test(peer_table, has_no_entry_of_an_unknown_peer)
{
	(void)add(1, 1);
	cr_expect_null(MSD_PEER_TABLE_FIND(rows, (struct msd_peer_id){0}));
}

Test(peer_table, of_no_entries_finds_none)
{
	cr_expect_null(msd_peer_table_find(NULL, 0, sizeof(rows[0]), user(1)));
}
