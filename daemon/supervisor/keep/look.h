#ifndef MSD_SUPERVISOR_LOOK_H
#define MSD_SUPERVISOR_LOOK_H
/* What the store has already need not be fetched, nor sent. */
#include "daemon/supervisor/keep/keeper.h"
#include "store/digest.h"
#include "store/record.h"

/* Embedded by who looks. */
struct msd_look {
	struct msd_keeper_job job; /* its err: MSD_OK, or it is not to be had */
	struct msd_digest digest;
	uint64_t max_bytes;
	const char *name; /* of a module whose manifest it may be; NULL: of none */
	/* That edition of it has the manifest: it is there, and none of it is read.
	 * MSD_REF_COUNT: none has. */
	enum msd_ref ref;
	/* What was found else: a sealed memfd, the owner's in done(), and its size. */
	int fd;
	uint64_t bytes;
};

/** Look for the module's edition of that manifest, else read and hash what is stored
 * under look->digest; @done is called with it, or with
 * MSD_NOT_FOUND, MSD_BAD_ARTIFACT (damaged), MSD_TOO_LARGE, MSD_NO_SPACE, MSD_IO. */
void msd_look(struct msd_keeper *keeper, struct msd_look *look,
	      void (*done)(struct msd_keeper_job *job, struct msd_keeper *keeper));

#endif
