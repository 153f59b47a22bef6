#include <criterion/criterion.h>
#include <semaphore.h>
#include <sys/resource.h>
#include <unistd.h>

#include "daemon/wire/bulk.h"

static sem_t may_end;

struct job {
	struct msd_bulk bulk;
	pid_t worked_by, done_by;
	int nice;
	unsigned n_done;
	uv_loop_t *loop; /* where it is begun again */
};

static void work(struct msd_bulk *b)
{
	struct job *job = (struct job *)b;

	job->worked_by = gettid();
	job->nice = getpriority(PRIO_PROCESS, (id_t)gettid());
}

static void work_once_it_may(struct msd_bulk *b)
{
	(void)sem_wait(&may_end);
	work(b);
}

static void work_and_let_another_end(struct msd_bulk *b)
{
	work(b);
	(void)sem_post(&may_end);
}

static void done(struct msd_bulk *b)
{
	struct job *job = (struct job *)b;

	job->done_by = gettid();
	job->n_done++;
}

static struct job job_of(void (*how)(struct msd_bulk *b))
{
	return (struct job){.bulk = {.work = how, .done = done}};
}

static void run(uv_loop_t *loop)
{
	(void)uv_run(loop, UV_RUN_DEFAULT);
	cr_expect_eq(uv_loop_close(loop), 0, "nothing is left");
}

Test(bulk, works_on_a_thread_that_comes_last_and_is_done_on_the_loops)
{
	const int own = getpriority(PRIO_PROCESS, 0);
	const int last = own + MSD_BULK_NICE < 19 ? own + MSD_BULK_NICE : 19;
	struct job job = job_of(work);
	uv_loop_t loop;

	(void)uv_loop_init(&loop);
	cr_expect_not(msd_bulk_is_busy());
	msd_bulk_begin(&loop, &job.bulk);
	cr_expect(job.n_done == 0 && msd_bulk_is_busy());
	run(&loop);
	cr_expect_not(msd_bulk_is_busy());
	cr_expect_eq(job.n_done, 1);
	cr_expect_eq(job.done_by, gettid());
	cr_expect_neq(job.worked_by, gettid());
	cr_expect_eq(job.nice, last);
	cr_expect_eq(getpriority(PRIO_PROCESS, 0), own, "nobody else does");
}

Test(bulk, goes_on_beside_one_that_hangs)
{
	struct job hangs = job_of(work_once_it_may);
	struct job other = job_of(work_and_let_another_end);
	uv_loop_t loop;

	(void)sem_init(&may_end, 0, 0);
	(void)uv_loop_init(&loop);
	msd_bulk_allow(2);
	msd_bulk_begin(&loop, &hangs.bulk);
	msd_bulk_begin(&loop, &other.bulk);
	run(&loop);
	cr_expect(hangs.n_done == 1 && other.n_done == 1);
	cr_expect_neq(hangs.worked_by, other.worked_by);
}

Test(bulk, has_no_more_threads_than_it_may)
{
	struct job jobs[] = {job_of(work_once_it_may), job_of(work), job_of(work)};
	uv_loop_t loop;

	(void)sem_init(&may_end, 0, 0);
	(void)uv_loop_init(&loop);
	msd_bulk_allow(1);
	for (size_t i = 0; i < 3; i++)
		msd_bulk_begin(&loop, &jobs[i].bulk);
	(void)sem_post(&may_end);
	run(&loop);
	for (size_t i = 0; i < 3; i++) {
		cr_expect_eq(jobs[i].n_done, 1);
		cr_expect_eq(jobs[i].worked_by, jobs[0].worked_by);
	}
}

static void done_and_begin_again(struct msd_bulk *b)
{
	struct job *job = (struct job *)b;

	done(b);
	if (job->n_done < 3)
		msd_bulk_begin(job->loop, b);
}

Test(bulk, may_be_begun_again_when_it_is_done)
{
	struct job job = job_of(work);
	uv_loop_t loop;

	(void)uv_loop_init(&loop);
	job.bulk.done = done_and_begin_again;
	job.loop = &loop;
	msd_bulk_begin(&loop, &job.bulk);
	run(&loop);
	cr_expect_eq(job.n_done, 3);
}

static void do_nothing(uv_work_t *work)
{
	(void)work;
}

/* Those are started with the first work for one of them. */
static void start_threads_of_libuv(uv_loop_t *loop)
{
	uv_work_t work;

	(void)uv_queue_work(loop, &work, do_nothing, NULL);
	(void)uv_run(loop, UV_RUN_DEFAULT);
}

Test(bulk, borrows_a_thread_where_none_can_be_started)
{
	const struct rlimit none = {0, 0};
	struct job job = job_of(work);
	uv_loop_t loop;

	(void)uv_loop_init(&loop);
	start_threads_of_libuv(&loop);
	if (geteuid() == 0) /* for root there is no such limit */
		cr_assert_eq(setresuid(65534, 65534, 65534), 0);
	cr_assert_eq(setrlimit(RLIMIT_NPROC, &none), 0);
	msd_bulk_begin(&loop, &job.bulk);
	run(&loop);
	cr_expect(job.n_done == 1 && job.done_by == gettid());
	cr_expect_neq(job.worked_by, gettid());
	cr_expect_eq(job.nice, getpriority(PRIO_PROCESS, 0), "it is not made nicer");
}
