#include <criterion/criterion.h>

#include "daemon/supervisor/request/waiters.h"

#define MOST 8u

static uv_loop_t loop;
static struct msd_tasks tasks;
static struct msd_client client;
static struct msd_waiters followers;
static uint64_t told[MOST];
static unsigned n_told, n_ends;
static uint64_t stays; /* the id of one that waits on; 0: none does */

static void reply(struct msd_client *c, uint64_t id, const struct msd_buf *result)
{
	(void)c, (void)result;
	cr_assert_lt(n_told, MOST);
	told[n_told++] = id;
}

static void on_done(struct msd_client *c, const struct msd_req *r)
{
	(void)c, (void)r;
}

static const struct msd_client_ops ops = {.reply = reply, .on_done = on_done};

static void tell(struct msd_waiters *f, struct msd_req *r)
{
	if (r->client.id == stays) {
		msd_waiters_wait(f, r);
		return;
	}
	msd_req_answer_nil(r);
	msd_req_release(r);
}

static void on_told(struct msd_waiters *f)
{
	cr_expect_eq(f, &followers);
	n_ends++;
}

static void begin(void)
{
	(void)uv_loop_init(&loop);
	msd_tasks_init(&tasks, &loop);
	msd_client_init(&client, &ops);
	msd_waiters_init(&followers, &tasks, tell);
	followers.on_told = on_told;
	for (uint64_t id = 1; id <= 3; id++) {
		msd_waiters_wait(&followers,
				 msd_req_new_waiting(&client, id, MSD_M_MODULE_WAIT));
	}
}

static void end(void)
{
	msd_client_leave(&client);
	msd_waiters_finish(&followers);
	msd_tasks_close(&tasks);
	(void)uv_run(&loop, UV_RUN_DEFAULT);
	cr_expect_eq(uv_loop_close(&loop), 0);
}

TestSuite(followers, .init = begin, .fini = end);

/* Tell one more, as the loop does. */
static void step(void)
{
	cr_assert(msd_tasks_step(&tasks), "there is more to tell");
}

static void expect_told(unsigned n)
{
	cr_expect_eq(n_told, n);
	for (unsigned i = 0; i < n; i++)
		cr_expect_eq(told[i], i + 1);
}

Test(followers, are_told_one_at_a_time_from_the_first_on)
{
	msd_waiters_tell(&followers);
	expect_told(1);
	cr_expect(msd_waiters_are_behind(&followers));
	step();
	expect_told(2);
	cr_expect_eq(n_ends, 0);
	step();
	expect_told(3);
	cr_expect_eq(n_ends, 1);
	cr_expect_not(msd_waiters_are_behind(&followers));
	cr_expect_not(msd_waiters_are_there(&followers));
}

Test(followers, who_is_alone_is_told_at_once)
{
	msd_client_leave(&client);
	msd_waiters_wait(&followers,
			 msd_req_new_waiting(&client, 1, MSD_M_MODULE_WAIT));
	msd_waiters_tell(&followers);
	expect_told(1);
	cr_expect_not(msd_waiters_are_behind(&followers));
	cr_expect_eq(n_ends, 0, "who tells knows");
}

Test(followers, who_comes_meanwhile_waits_for_the_next_time)
{
	msd_waiters_tell(&followers);
	msd_waiters_wait(&followers,
			 msd_req_new_waiting(&client, 4, MSD_M_MODULE_WAIT));
	step();
	step();
	expect_told(3);
	msd_waiters_tell(&followers);
	expect_told(4);
}

Test(followers, who_goes_meanwhile_is_not_told)
{
	msd_waiters_tell(&followers);
	msd_client_leave(&client);
	expect_told(1);
	cr_expect(msd_waiters_are_behind(&followers), "the end is told all the same");
	step();
	expect_told(1);
	cr_expect_eq(n_ends, 1);
}

Test(followers, one_may_wait_on)
{
	stays = 2;
	msd_waiters_tell(&followers);
	step();
	step();
	cr_expect_eq(n_told, 2);
	cr_expect_eq(n_ends, 1);
	cr_expect(msd_waiters_are_there(&followers));
}

Test(followers, are_charged_while_they_wait)
{
	cr_expect_eq(client.account.used_bytes, 3 * sizeof(struct msd_req));
	msd_waiters_tell(&followers);
	step();
	step();
	cr_expect_eq(client.account.used_bytes, 0);
}
