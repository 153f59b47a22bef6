#ifndef MSD_FETCH_PUSH_H
#define MSD_FETCH_PUSH_H
/*
 * Push a module into a registry: its manifest, the manifest's signature and its
 * files. Each is a blob, sent only if the registry lacks it. The registry's own
 * manifest, which lists them, is sent last. Requests run one after the other on the
 * caller's thread.
 */
#include "proto/base/diag.h"
#include "store/digest.h"

struct msd_network_options;

#define MSD_PUSH_LAYERS 19u /* manifest, signature, files of one manifest */

struct msd_push_layer {
	const char *type;  /* media type */
	const char *title; /* file name; NULL if none */
	int fd;            /* borrowed; a seekable file, read from its start */
	/* Filled in by the push. */
	uint64_t bytes;
	struct msd_digest digest;
};

struct msd_push_count {
	unsigned n_sent, n_there; /* numbers of blobs */
};

/**
 * Push @layers to the registry of @uri, oci://HOST/REPOSITORY:TAG, with the name and
 * password that @reach has for it. Errors: MSD_BAD_REQUEST, MSD_REFUSED (401, 403;
 * http to another machine), MSD_NOT_FOUND, MSD_IO, MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_push(const char *uri,
				const struct msd_network_options *reach,
				struct msd_push_layer *layers, unsigned n,
				struct msd_push_count *ret, struct msd_diag *d);

#endif
