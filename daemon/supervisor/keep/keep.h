#ifndef MSD_SUPERVISOR_KEEP_H
#define MSD_SUPERVISOR_KEEP_H
/*
 * Modules that survive a restart. Each decision of store/editions.h is written to the
 * disk before its effects:
 *
 *   load with keep:  bytes and a candidate on the disk -> load -> READY: current
 *                                                             -> FAILED: bad
 *   unload:          the record removed -> unload
 */
#include "daemon/supervisor/keep/attachment.h"
#include "daemon/supervisor/keep/keeper.h"
#include "proto/limits.h"
#include "store/record.h"

#define MSD_KEEP_PARTS 3 /* a library (or a model), its graph, its parameters */

/* A module that is being kept or forgotten; embedded by the caller. */
struct msd_keep {
	struct msd_keeper_job job; /* its err and d are the result */
	char name[MSD_MAX_NAME_BYTES + 1];
	/*
	 * For a candidate: the sealed artifact (borrowed, its parts are contiguous)
	 * and the edition with its options. The edition has a version and digest if a
	 * manifest names them; the job adds the files.
	 */
	int fd;
	uint64_t part_bytes[MSD_KEEP_PARTS];      /* 0: no such part */
	char file[MSD_RECORD_WORD];               /* original file name */
	struct msd_attachment papers[MSD_PAPERS]; /* borrowed */
	struct msd_edition *edition;              /* owned until it is written */
	/* Version and digest in the store, set when it is written. */
	uint64_t kept_version;
	struct msd_digest kept_digest;
};

/** Write @k to the store as a candidate; @done is called after success or failure. */
void msd_keep_candidate(struct msd_keeper *keeper, struct msd_keep *k,
			msd_keeper_call done);
/** Forget the module; it is not an error if the store does not have it. */
void msd_keep_forget(struct msd_keeper *keeper, struct msd_keep *k,
		     msd_keeper_call done);
enum msd_keep_verdict {
	MSD_KEEP_GOOD,
	MSD_KEEP_FAILED,    /* mark it as bad */
	MSD_KEEP_WITHDRAWN, /* it was not tried */
	MSD_KEEP_PROVEN,    /* the current edition passed its canary period */
	MSD_KEEP_ENDED,     /* the daemon stops; no verdict */
	MSD_KEEP_FORGOTTEN  /* remove the record */
};

/* An action to run after the write has succeeded or failed. */
struct msd_keep_after {
	/**
	 * @is_watched: the current edition is still in its canary period.
	 */
	void (*call)(void *ctx, uint64_t serial, bool is_watched);
	void *ctx;
	uint64_t serial;
};

/**
 * Record the result of loading the candidate of @name, or of the canary period after
 * it. @why: for MSD_KEEP_FAILED, else NULL. A failure is logged. @after: NULL, no
 * action.
 */
void msd_keep_tried(struct msd_keeper *keeper, const char *name,
		    enum msd_keep_verdict verdict, const char *why,
		    const struct msd_keep_after *after);
/**
 * Set name and file of @k; characters that a record cannot contain are removed from
 * the file name.
 */
void msd_keep_label(struct msd_keep *k, struct msd_span name, struct msd_span file);

#endif
