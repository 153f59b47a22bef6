#ifndef MSD_SUPERVISOR_SOURCE_JOB_H
#define MSD_SUPERVISOR_SOURCE_JOB_H
/*
 * A job that makes a source on a thread: work that takes time in proportion to its
 * bytes, or waits for a file system that may hang.
 *
 *   (begun) --thread--> is_done, on_done is called, once, on a later loop iteration
 *
 * The owner may change before the end. It may free the job at any time. If a thread is
 * still working, the job frees itself at the end, and drops its result.
 */
#include <uv.h>

#include "daemon/loop/work.h"
#include "daemon/supervisor/source/source.h"

struct msd_source_job {
	/* Public, of a finished job. */
	bool is_done;
	msd_err err;
	struct msd_diag diag;     /* the cause, if err is not MSD_OK */
	struct msd_source source; /* the result; its owner may take it */
	/** The job is done. Its owner may free it here. NULL: no callback. */
	void (*on_done)(struct msd_source_job *job);
	void *user; /* for the owner */
	/* Private. */
	struct msd_work work;
	void (*run)(struct msd_source_job *job);
	uint64_t bytes;
	void *map;                   /* mapping of the bytes to be sealed; owned */
	char *paths[MSD_PART_COUNT]; /* owned */
	char *with;                  /* owned */
};

/* Reserves memory of uploads, and seals them; msd_work.owner is a peer. */
extern struct msd_work_lane msd_source_uploads;

/**
 * Unmap @bytes at @map, through which @fd was written, then seal and hash @fd, which
 * is taken. It runs in the share of @owner (msd_work.owner). NULL: out of memory, and
 * nothing is taken.
 */
struct msd_source_job *msd_source_job_seal(uv_loop_t *loop, uint64_t owner, int fd,
					   void *map, uint64_t bytes);
/** Read local files, as msd_source_read() does. NULL: out of memory. */
struct msd_source_job *msd_source_job_read(uv_loop_t *loop,
					   const char *const paths[MSD_PART_COUNT],
					   const char *with, uint64_t max_bytes);
/**
 * Create a finished job with the result @source, which is taken. NULL: out of memory,
 * and nothing is taken.
 */
struct msd_source_job *msd_source_job_made(const struct msd_source *source);
/**
 * Append the names of the local files that it reads to @out, "a.so, a.params";
 * returns their number.
 */
unsigned msd_source_job_name(const struct msd_source_job *job, struct msd_buf *out);
/** Take the source of a job that is done and has succeeded; the caller owns it. */
struct msd_source msd_source_job_adopt(struct msd_source_job *job);
/** Free it in any state; NULL is fine. */
void msd_source_job_free(struct msd_source_job *job);

#endif
