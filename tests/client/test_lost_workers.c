#include <criterion/criterion.h>

#include "client/lost_workers.h"
#include "proto/value.h"

static struct msd_lost_workers lost;

static void finish(void)
{
	msd_lost_workers_finish(&lost);
}

TestSuite(lost_workers, .fini = finish);

/* channel.lost comes, of @pid. */
static void tell(uint64_t pid, const char *why)
{
	struct msd_buf b = {0};

	msd_pack_array(&b, 2);
	msd_pack_uint(&b, pid);
	msd_pack_array(&b, 3);
	msd_pack_int(&b, MSD_WORKER_LOST);
	msd_pack_cstr(&b, "WORKER_LOST");
	msd_pack_cstr(&b, why);
	cr_assert_not(b.bad);
	msd_lost_workers_apply(&lost, (struct msd_span){b.p, b.n});
	msd_buf_finish(&b);
}

Test(lost_workers, tells_why_by_the_number_of_each)
{
	tell(7, "seven");
	tell(8, "eight");
	const struct msd_lost_worker *w = msd_lost_workers_find(&lost, 7);
	cr_assert_not_null(w);
	cr_expect_eq(w->code, MSD_WORKER_LOST);
	cr_expect_str_eq(w->why, "seven");
	cr_expect_null(msd_lost_workers_find(&lost, 9));
}

Test(lost_workers, tells_once_for_another_may_have_the_number_then)
{
	tell(7, "seven");
	msd_lost_worker_forget(msd_lost_workers_find(&lost, 7));
	cr_expect_null(msd_lost_workers_find(&lost, 7));
	tell(7, "another");
	cr_assert_not_null(msd_lost_workers_find(&lost, 7));
	cr_expect_str_eq(msd_lost_workers_find(&lost, 7)->why, "another");
}

Test(lost_workers, are_forgotten_the_oldest_first)
{
	for (unsigned pid = 1; pid <= MSD_LOST_WORKERS + 1; pid++)
		tell(pid, "so");
	cr_expect_null(msd_lost_workers_find(&lost, 1));
	cr_expect_not_null(msd_lost_workers_find(&lost, 2));
}
