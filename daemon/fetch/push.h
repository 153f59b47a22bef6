#ifndef MSD_FETCH_PUSH_H
#define MSD_FETCH_PUSH_H
/*
 * A module is put into a registry: its manifest, the manifest's signature and its
 * files, each a blob that is sent if the registry lacks it, and last the registry's own
 * manifest, which names them all. One request after the other, on the caller's thread.
 */
#include "proto/diag.h"
#include "store/digest.h"

struct msd_reach;

#define MSD_PUSH_LAYERS 19u /* a manifest, its signature, the files of one */

struct msd_push_layer {
	const char *type;  /* media type */
	const char *title; /* what it is called; NULL: nothing */
	int fd;            /* borrowed; a file that can be read again from its start */
	/* Filled in. */
	uint64_t bytes;
	struct msd_digest digest;
};

struct msd_push_count {
	unsigned n_sent, n_there; /* blobs */
};

/**
 * Put @layers into the registry of @uri, oci://HOST/REPOSITORY:TAG, with the name and
 * password that @reach has for it. Errors: MSD_BAD_REQUEST,
 * MSD_REFUSED (401, 403; http to another machine), MSD_NOT_FOUND, MSD_IO, MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_push(const char *uri, const struct msd_reach *reach,
				struct msd_push_layer *layers, unsigned n,
				struct msd_push_count *ret, struct msd_diag *d);

#endif
