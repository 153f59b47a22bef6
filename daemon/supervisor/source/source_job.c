#include "daemon/supervisor/source/source_job.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "daemon/loop/closer.h"
#include "daemon/loop/list.h"

/*
 * Happy path: the job runs on a thread (work.h). on_done is called on a loop
 * iteration, and the owner takes the source and frees the job. Failures: the thread
 * hangs in a file system. The job stays; its owner has its own deadline and abandons
 * the job.
 */

static void destroy(struct msd_source_job *job)
{
	msd_source_finish(&job->source);
	msd_diag_finish(&job->diag);
	if (job->map != NULL)
		msd_closer_unmap(job->map, job->bytes);
	for (unsigned i = 0; i < MSD_PART_COUNT; i++)
		free(job->paths[i]);
	free(job->with);
	free(job);
}

static struct msd_source_job *job_of(struct msd_work *work)
{
	return MSD_CONTAINER_OF(work, struct msd_source_job, work);
}

static void drop(struct msd_work *work)
{
	destroy(job_of(work));
}

static void on_work(struct msd_work *work)
{
	struct msd_source_job *job = job_of(work);

	job->run(job);
}

static void on_worked(struct msd_work *work)
{
	struct msd_source_job *job = job_of(work);

	job->is_done = true;
	if (job->on_done != NULL)
		job->on_done(job);
}

/* One peer leaves threads to others. */
struct msd_work_lane msd_source_uploads =
	MSD_WORK_LANE(msd_source_uploads, MSD_WORK_BULK, 0, 2);
/* Each file of --load may hang, and has a thread (threads.h). */
static struct msd_work_lane reads = MSD_WORK_LANE(reads, MSD_WORK_BULK, 0, 0);

static struct msd_source_job *job_new(void (*run)(struct msd_source_job *))
{
	struct msd_source_job *job = calloc(1, sizeof(*job));

	if (job == NULL)
		return NULL;
	job->source.fd = -1;
	job->work =
		(struct msd_work){.run = on_work, .done = on_worked, .lane = &reads};
	job->run = run;
	return job;
}

static struct msd_source_job *begin(uv_loop_t *loop, struct msd_source_job *job)
{
	msd_work_begin(loop, &job->work);
	return job;
}

/* A file that is mapped writable cannot be sealed. */
static void seal(struct msd_source_job *job)
{
	(void)munmap(job->map, job->bytes);
	job->map = NULL;
	job->err = msd_source_seal(&job->source, &job->diag);
}

struct msd_source_job *msd_source_job_seal(uv_loop_t *loop, uint64_t owner, int fd,
					   void *map, uint64_t bytes)
{
	struct msd_source_job *job = job_new(seal);

	if (job == NULL)
		return NULL;
	job->work.lane = &msd_source_uploads;
	job->work.owner = owner;
	job->source.fd = fd;
	job->map = map;
	job->bytes = bytes;
	return begin(loop, job);
}

static void read_files(struct msd_source_job *job)
{
	const char *const paths[MSD_PART_COUNT] = {job->paths[0], job->paths[1],
						   job->paths[2]};

	job->err =
		msd_source_read(paths, job->with, job->bytes, &job->source, &job->diag);
}

struct msd_source_job *msd_source_job_read(uv_loop_t *loop,
					   const char *const paths[MSD_PART_COUNT],
					   const char *with, uint64_t max_bytes)
{
	struct msd_source_job *job = job_new(read_files);

	if (job == NULL)
		return NULL;
	job->bytes = max_bytes;
	for (unsigned i = 0; i < MSD_PART_COUNT; i++) {
		if (paths[i] == NULL)
			continue;
		job->paths[i] = strdup(paths[i]);
		if (job->paths[i] == NULL) {
			destroy(job);
			return NULL;
		}
	}
	job->with = with != NULL ? strdup(with) : NULL;
	if (with != NULL && job->with == NULL) {
		destroy(job);
		return NULL;
	}
	return begin(loop, job);
}

struct msd_source_job *msd_source_job_made(const struct msd_source *source)
{
	struct msd_source_job *job = job_new(NULL);

	if (job == NULL)
		return NULL;
	job->source = *source;
	job->is_done = true;
	return job;
}

unsigned msd_source_job_name(const struct msd_source_job *job, struct msd_buf *out)
{
	unsigned n = 0;

	for (unsigned i = 0; i <= MSD_PART_COUNT; i++) {
		const char *path = i < MSD_PART_COUNT ? job->paths[i] : job->with;
		if (path != NULL)
			msd_buf_printf(out, "%s%s", n++ > 0 ? ", " : "", path);
	}
	return n;
}

struct msd_source msd_source_job_adopt(struct msd_source_job *job)
{
	struct msd_source source = job->source;

	job->source.fd = -1;
	job->source.files = (struct msd_buf){0};
	return source;
}

void msd_source_job_free(struct msd_source_job *job)
{
	if (job == NULL)
		return;
	if (job->is_done) {
		destroy(job);
	} else {
		msd_work_leave(&job->work, drop);
	}
}
