#ifndef MSD_SUPERVISOR_SOURCE_JOB_H
#define MSD_SUPERVISOR_SOURCE_JOB_H
/*
 * A source that is being made, on a thread: what takes time in proportion to its bytes,
 * or waits for a file system that may never answer.
 *
 *   (begun) --thread--> is_done, on_done is called, once, on a later turn of the loop
 *
 * Its owner may be another by then. It frees the job at any time; while the thread
 * still works it ends by itself, and drops what it made.
 */
#include <uv.h>

#include "daemon/supervisor/source/source.h"
#include "daemon/wire/work.h"

struct msd_source_job {
	/* Public, of a job that is done. */
	bool is_done;
	msd_err err;
	struct msd_diag diag;     /* why, when err says so */
	struct msd_source source; /* what it made; its owner may take it */
	/** The job is done. Its owner may free it here. NULL: nobody waits for that. */
	void (*on_done)(struct msd_source_job *job);
	void *user; /* the owner's */
	/* Private. */
	struct msd_work work;
	void (*run)(struct msd_source_job *job);
	bool is_left; /* its owner has freed it */
	uint64_t bytes;
	void *map;                   /* of what is to be sealed */
	char *paths[MSD_PART_COUNT]; /* owned */
	char *with;                  /* owned */
};

/** Seal and hash @fd, which is taken, after unmapping @bytes at @map, through which it
 * was written, in the turn of @owner (msd_work.owner). NULL: out of memory; nothing is
 * taken. */
struct msd_source_job *msd_source_job_seal(uv_loop_t *loop, uint64_t owner, int fd,
					   void *map, uint64_t bytes);
/** Read local files, as msd_source_read() does. NULL: out of memory. */
struct msd_source_job *msd_source_job_read(uv_loop_t *loop,
					   const char *const paths[MSD_PART_COUNT],
					   const char *with, uint64_t max_bytes);
/** A job that is done and has made @source, which is taken. NULL: out of memory;
 * nothing is taken. */
struct msd_source_job *msd_source_job_made(const struct msd_source *source);
/** Put the local files that it reads into @out, "a.so, a.params"; how many there are.
 */
unsigned msd_source_job_name(const struct msd_source_job *job, struct msd_buf *out);
/** The source of a job that is done and has succeeded, the caller's from here on. */
struct msd_source msd_source_job_take(struct msd_source_job *job);
/** End it in any state; NULL is fine. */
void msd_source_job_free(struct msd_source_job *job);

#endif
