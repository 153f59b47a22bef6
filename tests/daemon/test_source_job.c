#include <criterion/criterion.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/loop/work.h"
#include "daemon/segments/reserve.h"
#include "daemon/supervisor/source/source_job.h"

struct waiting {
	uv_loop_t loop;
	unsigned n_done;
};

static void on_done(struct msd_source_job *job)
{
	struct waiting *w = job->user;

	w->n_done++;
}

/* Run until nothing is under way. */
static void expect_over(struct waiting *w, unsigned n_done)
{
	(void)uv_run(&w->loop, UV_RUN_DEFAULT);
	msd_work_close();
	(void)uv_run(&w->loop, UV_RUN_DEFAULT);
	cr_expect_eq(w->n_done, n_done);
	cr_expect_eq(uv_loop_close(&w->loop), 0, "nothing is left");
}

static struct msd_source_job *begin(struct waiting *w, struct msd_source_job *job)
{
	cr_assert_not_null(job);
	cr_expect_not(job->is_done);
	job->on_done = on_done;
	job->user = w;
	return job;
}

Test(source_job, seals_what_was_mapped)
{
	struct waiting w = {.n_done = 0};
	int fd = msd_reserve_now("test", 4096);

	(void)uv_loop_init(&w.loop);
	void *map = msd_source_map(fd, 4096);
	cr_assert_not_null(map);
	struct msd_source_job *job =
		begin(&w, msd_source_job_seal(&w.loop, 1, fd, map, 4096));
	expect_over(&w, 1);
	cr_assert(job->is_done && job->err == MSD_OK);
	cr_expect_eq(job->source.bytes, 4096);
	cr_expect_neq(fcntl(job->source.fd, F_GET_SEALS) & F_SEAL_WRITE, 0);
	msd_source_job_free(job);
}

/* As a worker is, between its fork and its own program. */
static pid_t start_child(void)
{
	pid_t child = fork();

	cr_assert_neq(child, -1);
	if (child == 0) {
		(void)pause();
		_exit(0);
	}
	return child;
}

Test(source_job, seals_while_a_process_is_started)
{
	struct waiting w = {.n_done = 0};
	int fd = msd_reserve_now("test", 4096);

	(void)uv_loop_init(&w.loop);
	void *map = msd_source_map(fd, 4096);
	cr_assert_not_null(map);
	const pid_t child = start_child();
	struct msd_source_job *job =
		begin(&w, msd_source_job_seal(&w.loop, 1, fd, map, 4096));
	expect_over(&w, 1);
	cr_expect_eq(kill(child, SIGKILL), 0);
	cr_expect_eq(waitpid(child, NULL, 0), child);
	cr_expect_eq(job->err, MSD_OK, "%s", msd_diag_text(&job->diag));
	msd_source_job_free(job);
}

Test(source_job, says_why_a_file_cannot_be_read)
{
	const char *const paths[MSD_PART_COUNT] = {"/nowhere/to/be/found", NULL, NULL};
	struct waiting w = {.n_done = 0};

	(void)uv_loop_init(&w.loop);
	struct msd_source_job *job =
		begin(&w, msd_source_job_read(&w.loop, paths, NULL, 100));
	expect_over(&w, 1);
	cr_assert(job->is_done && job->err == MSD_IO);
	cr_expect_not_null(strstr(msd_diag_text(&job->diag), paths[0]));
	msd_source_job_free(job);
}

Test(source_job, that_was_freed_tells_nobody)
{
	const char *const paths[MSD_PART_COUNT] = {"/proc/self/exe", NULL, NULL};
	struct waiting w = {.n_done = 0};

	(void)uv_loop_init(&w.loop);
	msd_source_job_free(begin(&w, msd_source_job_read(&w.loop, paths, NULL, 1)));
	expect_over(&w, 0);
}
