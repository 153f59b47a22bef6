#ifndef MSD_SUPERVISOR_KEEP_H
#define MSD_SUPERVISOR_KEEP_H
/*
 * Modules that are there again after a restart. What store/editions.h decides is
 * written down before anything is done that follows from it:
 *
 *   load with keep:  bytes and a candidate on the disk -> load -> READY: current
 *                                                             -> FAILED: bad
 *   unload:          the record removed -> unload
 */
#include "daemon/supervisor/keep/keeper.h"
#include "daemon/supervisor/keep/paper.h"
#include "proto/limits.h"
#include "store/record.h"

#define MSD_KEEP_PARTS                                                                 \
	3 /* a library (or a model), its graph, the graph's parameters                 \
	   */

/* A module that is being kept, or forgotten; embedded by who asks. */
struct msd_keep {
	struct msd_keeper_job job; /* its err and d say how it went */
	char name[MSD_MAX_NAME_BYTES + 1];
	/* Of a candidate: the sealed artifact, borrowed, whose parts lie one behind the
	 * other, and the edition with its options, its version and digest where a
	 * manifest names them; the files are filled in. */
	int fd;
	uint64_t part_bytes[MSD_KEEP_PARTS]; /* 0: there is none */
	char file[MSD_RECORD_WORD];          /* how its maker called it */
	struct msd_paper papers[MSD_PAPERS]; /* borrowed */
	struct msd_edition *edition;         /* owned until it is kept */
	/* What the store calls it by, once it is kept. */
	uint64_t kept_version;
	struct msd_digest kept_digest;
};

/** Write @k down as a candidate; @done is called when it is on the disk, or not. */
void msd_keep_candidate(struct msd_keeper *keeper, struct msd_keep *k,
			void (*done)(struct msd_keeper_job *job,
				     struct msd_keeper *keeper));
/** Forget the module; that it was not kept is fine. */
void msd_keep_forget(struct msd_keeper *keeper, struct msd_keep *k,
		     void (*done)(struct msd_keeper_job *job,
				  struct msd_keeper *keeper));
enum msd_keep_verdict {
	MSD_KEEP_GOOD,
	MSD_KEEP_FAILED,    /* it is bad */
	MSD_KEEP_WITHDRAWN, /* it was not even tried */
	MSD_KEEP_PROVEN,    /* the current one, which was watched */
	MSD_KEEP_ENDED      /* the daemon ends, which says nothing of it */
};

/* What is done when something is written down, or could not be, which is logged. */
struct msd_keep_after {
	/** @is_watched: what serves has still to prove itself. NULL: nothing. */
	void (*call)(void *ctx, uint64_t serial, bool is_watched);
	void *ctx;
	uint64_t serial;
};

/** How the load of the candidate of @name ended, or the watch over what it became.
 * @why: of MSD_KEEP_FAILED, else NULL. */
void msd_keep_tried(struct msd_keeper *keeper, const char *name,
		    enum msd_keep_verdict verdict, const char *why,
		    struct msd_keep_after after);
/** Name and file of @k; of the file what cannot stand in a record is left out. */
void msd_keep_label(struct msd_keep *k, struct msd_span name, struct msd_span file);

#endif
