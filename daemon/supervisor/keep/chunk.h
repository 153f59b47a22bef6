#ifndef MSD_SUPERVISOR_CHUNK_H
#define MSD_SUPERVISOR_CHUNK_H
/* Export a module from the store to another daemon or client: first the list of its
 * files, then the files, chunk by chunk. */
#include "daemon/supervisor/keep/keeper.h"
#include "proto/limits.h"
#include "store/digest.h"

#define MSD_STORE_CHUNK_BYTES (1u << 20) /* per chunk */

/* Embedded by the caller. */
struct msd_store_chunk {
	struct msd_keeper_job job; /* its err and d are the result */
	char name[MSD_MAX_NAME_BYTES + 1];
	bool is_of_file;          /* false: read the list of the edition */
	struct msd_digest digest; /* of that file */
	uint64_t from, bytes;     /* offset, and maximum length */
	struct msd_buf result;    /* one msgpack object; owner frees */
};

/**
 * Read the module's current edition, {version, files}, or at most p->bytes of one of
 * its files. Files of its previous edition are allowed, too; the bytes are not hashed
 * here. @done is called with p->result, or with MSD_NOT_FOUND (no such module or
 * file), MSD_BAD_ARTIFACT (its record is damaged), MSD_IO, MSD_NOMEM.
 */
void msd_store_chunk_read(struct msd_keeper *keeper, struct msd_store_chunk *p,
			  msd_keeper_call done);

#endif
