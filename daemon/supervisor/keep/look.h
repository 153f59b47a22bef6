#ifndef MSD_SUPERVISOR_LOOK_H
#define MSD_SUPERVISOR_LOOK_H
/* What the store has already need not be fetched, nor sent. */
#include "daemon/supervisor/keep/keeper.h"
#include "proto/bytes.h"
#include "proto/limits.h"
#include "store/digest.h"
#include "store/record.h"

/* Embedded by who looks. */
struct msd_look {
	struct msd_keeper_job job; /* its err: MSD_OK, or it is not to be had */
	struct msd_digest digest;
	bool is_name; /* by which a registry has an edition, and no file's */
	uint64_t max_bytes;
	/** May the asker have bytes of the module @name? On the keeper's thread. All
	 * else is not there to it, but for the module that it is for. NULL: all of
	 * them. */
	bool (*may_have)(const void *asker, const char *name);
	const void *asker;
	const char
		*name; /* of the module that it is for; NULL: files alone are wanted */
	/* An edition of this module, by its manifest or its first file, which the texts
	 * below vouch for to who checks them; and no file without. */
	bool is_signed;
	/* That edition has the manifest: it is there, whole, and none of it is read.
	 * MSD_REF_COUNT: none has. */
	enum msd_ref ref;
	char from[MSD_MAX_NAME_BYTES + 1]; /* the module whose edition it is */
	struct msd_digest edition;
	struct msd_buf manifest, signature; /* where it is signed; the owner's */
	bool is_manifest; /* of an edition, though that is not to be had */
	/* What was found else: a sealed memfd, the owner's in done(), and its size. */
	int fd;
	uint64_t bytes;
};

/** Look for an edition of that manifest, the module's own or another's, else read and
 * hash the file that is stored under look->digest; @done is called with it, or with
 * MSD_NOT_FOUND, MSD_BAD_ARTIFACT (damaged), MSD_TOO_LARGE, MSD_NO_SPACE, MSD_IO. What
 * modules have as their manifest, signature or self-tests is no file to be loaded. */
void msd_look(struct msd_keeper *keeper, struct msd_look *look,
	      void (*done)(struct msd_keeper_job *job, struct msd_keeper *keeper));

#endif
