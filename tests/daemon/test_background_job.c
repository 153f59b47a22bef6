#include <criterion/criterion.h>
#include <string.h>

#include "daemon/supervisor/request/background_job.h"

#define N 9u
#define MANY 0u /* the value of the peer that has all but two */

struct one {
	struct msd_background_job chore;
	char name;
};

static uv_loop_t loop;
static struct msd_background_jobs all;
static struct one ones[N];
static uv_sem_t gate;
static uv_mutex_t told;
static char begun[N + 1];
static unsigned n_begun, n_done;

static void run(struct msd_background_job *c)
{
	const struct one *o = MSD_CONTAINER_OF(c, struct one, chore);

	uv_mutex_lock(&told);
	begun[n_begun++] = o->name;
	uv_mutex_unlock(&told);
	uv_sem_wait(&gate);
}

static void on_done(struct msd_background_job *c)
{
	cr_expect_not(c->is_busy);
	n_done++;
	uv_sem_post(&gate);
}

static void begin(unsigned i, char name, uint64_t peer)
{
	ones[i] = (struct one){.chore = {.run = run, .on_done = on_done}, .name = name};
	msd_background_job_begin(
		&all, &ones[i].chore,
		(struct msd_peer_id){.kind = MSD_PEER_IPV4, .value = peer});
	cr_expect(ones[i].chore.is_busy);
}

static void set_up(void)
{
	cr_assert_eq(uv_loop_init(&loop), 0);
	cr_assert_eq(uv_sem_init(&gate, 0), 0);
	cr_assert_eq(uv_mutex_init(&told), 0);
	msd_background_jobs_init(&all, &loop);
}

/* One at a time from here on, so that they are told in the order of their turns: the
 * first is let go, and each lets the next. */
static void finish(void)
{
	uv_sem_post(&gate);
	cr_expect_eq(uv_run(&loop, UV_RUN_DEFAULT), 0);
	cr_expect_eq(n_done, N);
}

static unsigned place_of(char name)
{
	unsigned i = 0;

	while (begun[i] != name)
		i++;
	return i;
}

Test(chore, peers_take_turns_however_many_one_has, .init = set_up)
{
	for (unsigned i = 0; i < N - 2; i++)
		begin(i, (char)('a' + (int)i), MANY);
	begin(N - 2, 'x', 1);
	begin(N - 1, 'y', 2);
	finish();
	/* Two ran, and one was next. */
	cr_expect_leq(place_of('x'), 4, "%s", begun);
	cr_expect_leq(place_of('y'), 5, "%s", begun);
}

Test(chore, who_leaves_while_it_waits_is_not_run, .init = set_up)
{
	for (unsigned i = 0; i < N; i++)
		begin(i, (char)('a' + (int)i), MANY);
	cr_expect(msd_background_job_is_running(&ones[1].chore));
	cr_expect_not(msd_background_job_is_running(&ones[2].chore));
	msd_background_job_leave(&ones[2].chore);
	cr_expect_not(ones[2].chore.is_busy);
	uv_sem_post(&gate);
	cr_expect_eq(uv_run(&loop, UV_RUN_DEFAULT), 0);
	cr_expect_eq(n_done, N - 1);
	cr_expect_null(strchr(begun, 'c'), "%s", begun);
}

Test(chore, of_one_peer_they_are_done_in_the_order_of_their_coming, .init = set_up)
{
	for (unsigned i = 0; i < N; i++)
		begin(i, (char)('a' + (int)i), MANY);
	finish();
	for (unsigned i = 2; i < N; i++)
		cr_expect_eq(begun[i], 'a' + (int)i, "%s", begun);
}
