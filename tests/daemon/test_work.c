#include <criterion/criterion.h>
#include <errno.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "daemon/loop/work.h"

#define N_OWN (MSD_WORK_STAY_BULK + 2u)

static sem_t may_end;
static uv_loop_t loop;
static char order[16]; /* names of jobs, as they were done */
static struct msd_work_lane bulk_lane = MSD_WORK_LANE(bulk_lane, MSD_WORK_BULK, 0, 0),
			    peer_lane = MSD_WORK_LANE(peer_lane, MSD_WORK_BULK, 0, 2),
			    prompt_lane = MSD_WORK_LANE(prompt_lane,
							MSD_WORK_INTERACTIVE, 0, 0);

struct job {
	struct msd_work work;
	pid_t worked_by, done_by;
	int nice;
	unsigned n_done;
	char name;
};

static struct job *job_of(struct msd_work *w)
{
	return MSD_CONTAINER_OF(w, struct job, work);
}

static void run(struct msd_work *w)
{
	job_of(w)->worked_by = gettid();
	job_of(w)->nice = getpriority(PRIO_PROCESS, (id_t)gettid());
}

static void run_once_it_may(struct msd_work *w)
{
	(void)sem_wait(&may_end);
	run(w);
}

static void run_and_let_another_end(struct msd_work *w)
{
	run(w);
	(void)sem_post(&may_end);
}

static void done(struct msd_work *w)
{
	struct job *job = job_of(w);

	job->done_by = gettid();
	job->n_done++;
	order[strlen(order)] = job->name;
}

static struct job new_job(struct msd_work_lane *lane, void (*how)(struct msd_work *w))
{
	return (struct job){.work = {.run = how, .done = done, .lane = lane},
			    .name = '.'};
}

static struct job job_of_peer(uint64_t owner, char name)
{
	struct job job = new_job(&peer_lane, run_once_it_may);

	job.work.owner = owner;
	job.name = name;
	return job;
}

static void set_up(void)
{
	cr_assert_eq(sem_init(&may_end, 0, 0), 0);
	cr_assert_eq(uv_loop_init(&loop), 0);
}

/* As the daemon's: @n_more threads beside those that stay. */
static int open_bulk(unsigned n_more)
{
	return msd_work_open(MSD_WORK_BULK, MSD_WORK_STAY_BULK, n_more);
}

static void let_end(unsigned n)
{
	while (n-- > 0)
		(void)sem_post(&may_end);
}

static void run_all(void)
{
	(void)uv_run(&loop, UV_RUN_DEFAULT);
	cr_expect_not(msd_work_is_busy());
	msd_work_close();
	(void)uv_run(&loop, UV_RUN_DEFAULT);
	cr_expect_eq(uv_loop_close(&loop), 0, "nothing is left");
}

static void use_up_threads(void)
{
	const struct rlimit none = {0, 0};

	if (geteuid() == 0) /* for root there is no such limit */
		cr_assert_eq(setresuid(65534, 65534, 65534), 0);
	cr_assert_eq(setrlimit(RLIMIT_NPROC, &none), 0);
}

Test(work, is_done_on_a_thread_that_comes_last_and_on_the_loops, .init = set_up)
{
	const int own = getpriority(PRIO_PROCESS, 0);
	const int last = own + MSD_WORK_NICE < 19 ? own + MSD_WORK_NICE : 19;
	struct job bulk = new_job(&bulk_lane, run);
	struct job prompt = new_job(&prompt_lane, run);

	cr_expect_not(msd_work_is_busy());
	msd_work_begin(&loop, &bulk.work);
	msd_work_begin(&loop, &prompt.work);
	cr_expect(bulk.n_done == 0 && msd_work_is_busy());
	run_all();
	cr_expect(bulk.n_done == 1 && prompt.n_done == 1);
	cr_expect_eq(bulk.done_by, gettid());
	cr_expect(bulk.worked_by != gettid() && prompt.worked_by != gettid());
	cr_expect(bulk.nice == last && prompt.nice == own);
	cr_expect_eq(getpriority(PRIO_PROCESS, 0), own, "the loop keeps its priority");
}

Test(work, that_is_prompt_is_done_while_all_bulk_threads_hang, .init = set_up)
{
	struct job hang[N_OWN];
	struct job prompt = new_job(&prompt_lane, run);

	cr_assert_eq(open_bulk(0), 0);
	for (unsigned i = 0; i < N_OWN; i++) {
		hang[i] = new_job(&bulk_lane, run_once_it_may);
		msd_work_begin(&loop, &hang[i].work);
	}
	msd_work_begin(&loop, &prompt.work);
	while (prompt.n_done == 0)
		(void)uv_run(&loop, UV_RUN_ONCE);
	cr_expect_eq(hang[0].n_done, 0);
	let_end(N_OWN);
	run_all();
}

/* As with files of --load, each of which may hang. */
Test(work, has_threads_beside_those_that_stay, .init = set_up)
{
	struct job hang[N_OWN];
	struct job last = new_job(&bulk_lane, run_and_let_another_end);

	cr_assert_eq(open_bulk(3), 0);
	for (unsigned i = 0; i < N_OWN; i++) {
		hang[i] = new_job(&bulk_lane, run_once_it_may);
		msd_work_begin(&loop, &hang[i].work);
	}
	msd_work_begin(&loop, &last.work);
	while (last.n_done == 0)
		(void)uv_run(&loop, UV_RUN_ONCE);
	let_end(N_OWN - 1);
	run_all();
	for (unsigned i = 0; i < N_OWN; i++)
		cr_expect(hang[i].n_done == 1 && hang[i].worked_by != last.worked_by);
}

Test(work, of_one_peer_leaves_threads_to_others, .init = set_up)
{
	struct job many[6], other;

	cr_assert_eq(open_bulk(0), 0);
	for (unsigned i = 0; i < 6; i++) {
		many[i] = job_of_peer(1, 'm');
		msd_work_begin(&loop, &many[i].work);
	}
	other = job_of_peer(2, 'o');
	other.work.run = run;
	msd_work_begin(&loop, &other.work);
	while (other.n_done == 0)
		(void)uv_run(&loop, UV_RUN_ONCE);
	cr_expect_str_eq(order, "o");
	let_end(6);
	run_all();
}

Test(work, of_peers_is_done_in_turns, .init = set_up)
{
	static const char names[] = {'a', 'a', 'a', 'b', 'c'};
	struct job held[MSD_WORK_STAY_BULK], jobs[5];

	cr_assert_eq(open_bulk(0), 0);
	for (unsigned i = 0; i < MSD_WORK_STAY_BULK; i++) {
		held[i] = job_of_peer(i, '.');
		msd_work_begin(&loop, &held[i].work);
	}
	for (unsigned i = 0; i < 5; i++) {
		jobs[i] = job_of_peer((uint64_t)names[i], names[i]);
		jobs[i].work.run = run;
		msd_work_begin(&loop, &jobs[i].work);
	}
	let_end(1); /* the only thread that does all five */
	while (strlen(order) < 6)
		(void)uv_run(&loop, UV_RUN_ONCE);
	cr_expect_str_eq(order, ".abcaa");
	let_end(MSD_WORK_STAY_BULK - 1);
	run_all();
}

static void done_and_begin_again(struct msd_work *w)
{
	done(w);
	if (job_of(w)->n_done < 3)
		msd_work_begin(&loop, w);
}

Test(work, may_be_begun_again_when_it_is_done, .init = set_up)
{
	struct job job = new_job(&bulk_lane, run);

	job.work.done = done_and_begin_again;
	msd_work_begin(&loop, &job.work);
	run_all();
	cr_expect_eq(job.n_done, 3);
}

/* Fill all places of @lane with jobs that hang. */
static void hang_all(struct msd_work_lane *lane, struct job *jobs, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		jobs[i] = new_job(lane, run_once_it_may);
		msd_work_begin(&loop, &jobs[i].work);
	}
}

Test(work, that_hangs_costs_the_threads_of_its_lane, .init = set_up)
{
	struct msd_work_lane two;
	struct job hang[5], other = new_job(&bulk_lane, run);

	msd_work_lane_init(&two, MSD_WORK_BULK, 2);
	cr_assert_eq(open_bulk(0), 0);
	hang_all(&two, hang, 5);
	msd_work_begin(&loop, &other.work);
	while (other.n_done == 0)
		(void)uv_run(&loop, UV_RUN_ONCE);
	cr_expect_eq(msd_work_is_busy(), true);
	let_end(5);
	run_all();
	for (unsigned i = 0; i < 5; i++)
		cr_expect_eq(hang[i].n_done, 1);
}

static atomic_uint n_at_once;

static void run_alone(struct msd_work *w)
{
	cr_expect_eq(atomic_fetch_add(&n_at_once, 1), 0, "%c", job_of(w)->name);
	run(w);
	(void)atomic_fetch_sub(&n_at_once, 1);
}

Test(work, of_a_lane_of_one_thread_runs_in_order, .init = set_up)
{
	struct msd_work_lane serial;
	struct job jobs[8];

	msd_work_lane_init(&serial, MSD_WORK_BULK, 1);
	for (unsigned i = 0; i < 8; i++) {
		jobs[i] = new_job(&serial, run_alone);
		jobs[i].name = (char)('a' + (int)i);
		msd_work_begin(&loop, &jobs[i].work);
	}
	run_all();
	cr_expect_str_eq(order, "abcdefgh");
}

Test(work, of_a_lane_of_one_thread_is_shared_by_peers, .init = set_up)
{
	static const char names[] = {'a', 'a', 'a', 'b', 'b'};
	struct msd_work_lane serial;
	struct job jobs[5];

	msd_work_lane_init(&serial, MSD_WORK_INTERACTIVE, 1);
	for (unsigned i = 0; i < 5; i++) {
		jobs[i] = new_job(&serial, run_once_it_may);
		jobs[i].name = names[i];
		jobs[i].work.owner = (uint64_t)names[i];
		msd_work_begin(&loop, &jobs[i].work);
	}
	let_end(5);
	run_all();
	/* The first one may have had the thread before the others came. */
	cr_expect(strcmp(order, "ababa") == 0 || strcmp(order, "aabab") == 0, "%s",
		  order);
}

Test(work, that_is_cancelled_while_it_waits_does_not_run, .init = set_up)
{
	struct msd_work_lane serial;
	struct job jobs[2];

	msd_work_lane_init(&serial, MSD_WORK_BULK, 1);
	cr_assert_eq(open_bulk(0), 0);
	hang_all(&serial, jobs, 2);
	let_end(1);
	while (jobs[0].n_done == 0)
		(void)uv_run(&loop, UV_RUN_ONCE);
	cr_expect(msd_work_cancel(&jobs[0].work), "it is done, so it is not begun");
	msd_work_begin(&loop, &jobs[0].work);
	cr_expect(msd_work_cancel(&jobs[0].work));
	cr_expect_not(jobs[0].work.is_begun);
	while (!msd_work_cancel(&jobs[1].work)) { /* until a thread has it */
		let_end(1);
		(void)uv_run(&loop, UV_RUN_ONCE);
	}
	run_all();
	cr_expect_eq(jobs[0].n_done, 1);
}

static void drop(struct msd_work *w)
{
	order[strlen(order)] = 'x';
	cr_expect_eq(job_of(w)->done_by, 0, "it was not done");
}

Test(work, that_is_left_is_dropped_once, .init = set_up)
{
	struct msd_work_lane serial;
	struct job jobs[2];

	msd_work_lane_init(&serial, MSD_WORK_BULK, 1);
	cr_assert_eq(open_bulk(0), 0);
	hang_all(&serial, jobs, 2);
	msd_work_leave(&jobs[1].work, drop);
	cr_expect_str_eq(order, "x", "it waited");
	msd_work_leave(&jobs[0].work, drop);
	let_end(1);
	run_all();
	cr_expect_str_eq(order, "xx");
	cr_expect(jobs[0].n_done == 0 && jobs[1].n_done == 0);
}

static void run_and_free(struct msd_work *w)
{
	free(w);
	(void)sem_post(&may_end);
}

Test(work, that_is_submitted_ends_without_a_loop, .init = set_up)
{
	struct msd_work_lane two;

	msd_work_lane_init(&two, MSD_WORK_CLOSE, 2);
	for (unsigned i = 0; i < 50; i++) {
		struct msd_work *w = calloc(1, sizeof(*w));
		cr_assert_not_null(w);
		*w = (struct msd_work){.run = run_and_free, .lane = &two};
		msd_work_submit(w);
	}
	for (unsigned i = 0; i < 50; i++)
		cr_assert_eq(sem_wait(&may_end), 0);
	cr_expect_not(msd_work_is_busy());
}

Test(work, is_done_where_no_thread_can_be_started_any_more, .init = set_up)
{
	struct job bulk = new_job(&bulk_lane, run);
	struct job prompt = new_job(&prompt_lane, run);

	cr_assert_eq(open_bulk(1), 0);
	cr_assert_eq(msd_work_open(MSD_WORK_INTERACTIVE, 1, 0), 0);
	use_up_threads();
	msd_work_begin(&loop, &bulk.work);
	msd_work_begin(&loop, &prompt.work);
	run_all();
	cr_expect(bulk.n_done == 1 && prompt.n_done == 1);
	cr_expect_neq(bulk.worked_by, gettid());
}

Test(work, says_that_no_thread_can_be_started, .init = set_up)
{
	use_up_threads();
	cr_expect_eq(open_bulk(0), EAGAIN);
}
