#include <criterion/criterion.h>

#include "daemon/limits.h"

#define MIB (1ull << 20)
#define GIB (1ull << 30)

static struct msd_limits sized(struct msd_limits l, uint64_t machine_bytes)
{
	msd_limits_size(&l, machine_bytes, 4);
	return l;
}

Test(limits, of_memory_are_parts_of_the_machine)
{
	const struct msd_limits l = sized((struct msd_limits){0}, 8 * GIB);

	cr_expect_eq(l.max_memory, 4 * GIB);
	cr_expect_eq(l.max_resident, 3 * GIB / 2);
	cr_expect_eq(l.max_upload_memory, 4 * GIB);
	cr_expect_eq(l.max_worker_memory, 6 * GIB);
	cr_expect_eq(l.max_worker_processes, 256 + 4 * 16);
	cr_expect_eq(l.max_total_memory, 512 * MIB);
	cr_expect_eq(l.max_peer_memory, 256 * MIB);
	cr_expect_eq(l.max_connection_memory, 64 * MIB);
}

Test(limits, of_a_small_or_large_machine_stay_useful)
{
	cr_expect_eq(sized((struct msd_limits){0}, 256 * MIB).max_total_memory,
		     128 * MIB);
	cr_expect_eq(sized((struct msd_limits){0}, 512 * MIB).max_connection_memory,
		     16 * MIB);
	cr_expect_eq(sized((struct msd_limits){0}, 4096 * GIB).max_total_memory, GIB);
}

Test(limits, that_were_given_stand_and_lead_the_smaller_ones)
{
	const struct msd_limits l =
		sized((struct msd_limits){.max_memory = 1, .max_total_memory = 8 * MIB},
		      8 * GIB);

	cr_expect_eq(l.max_memory, 1);
	cr_expect_eq(l.max_total_memory, 8 * MIB);
	cr_expect_eq(l.max_peer_memory, 4 * MIB);
	cr_expect_eq(l.max_connection_memory, MIB);
}

/* What one peer, and all, may leave unread leaves room for another's results. */
Test(limits, of_replies_leave_half_of_little_tensor_memory)
{
	const struct msd_limits l =
		sized((struct msd_limits){.max_memory = 64 * MIB}, 8 * GIB);

	cr_expect_eq(l.max_total_memory, 32 * MIB);
	cr_expect_eq(l.max_peer_memory, 16 * MIB);
	cr_expect_eq(l.max_connection_memory, 4 * MIB);
	cr_expect_eq(l.max_resident, 24 * MIB);
}

Test(limits, of_replies_let_a_body_come_however_little_tensor_memory_there_is)
{
	const struct msd_limits l =
		sized((struct msd_limits){.max_memory = MIB}, 8 * GIB);

	cr_expect_eq(l.max_total_memory, 4 * MIB);
	cr_expect_eq(l.max_connection_memory, MIB);
}
