#ifndef MSD_SUPERVISOR_PIECE_H
#define MSD_SUPERVISOR_PIECE_H
/* What the store has of a module, for who wants to have the same: first of which files
 * it consists, then these, piece by piece. */
#include "daemon/supervisor/keep/keeper.h"
#include "proto/limits.h"
#include "store/digest.h"

#define MSD_PIECE_BYTES (1u << 20) /* at a time */

/* Embedded by who asks. */
struct msd_piece {
	struct msd_keeper_job job; /* its err and d say how it went */
	char name[MSD_MAX_NAME_BYTES + 1];
	bool is_of_file;          /* false: the edition is told */
	struct msd_digest digest; /* of that file */
	uint64_t from, bytes;     /* where it begins, and how much it has at most */
	struct msd_buf result;    /* one msgpack object; the owner's, who finishes it */
};

/**
 * Tell the module's current edition, {version, files}, or at most p->bytes of one of
 * its files, or of its previous edition's, whose bytes are not hashed here. @done is
 * called with p->result, or with MSD_NOT_FOUND (no such module, or file of it),
 * MSD_BAD_ARTIFACT (its record is damaged), MSD_IO, MSD_NOMEM.
 */
void msd_piece_read(struct msd_keeper *keeper, struct msd_piece *p,
		    void (*done)(struct msd_keeper_job *job,
				 struct msd_keeper *keeper));

#endif
