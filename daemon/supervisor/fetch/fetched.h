#ifndef MSD_SUPERVISOR_FETCHED_H
#define MSD_SUPERVISOR_FETCHED_H
/* The result of a fetch.get from modserd-fetch, validated like untrusted input. */
#include "daemon/stream/conn.h"
#include "daemon/supervisor/source/source.h"
#include "proto/unpack.h"
#include "store/trust.h"

struct msd_fetched {
	struct msd_source source; /* without a file: the caller has it already */
	/* From the manifest; 0 without a manifest. */
	uint64_t created_s; /* since the epoch */
	uint64_t warmup;    /* test rounds before it serves */
	uint32_t n_signers; /* number of trusted keys that signed it */
	struct msd_key_id signers[MSD_TRUST_KEYS];
	/* Borrowed from the result. */
	struct msd_span file;
	struct msd_span etag;  /* empty: no ETag */
	struct msd_span tests; /* an array, as in CHANNEL.md; empty: no tests */
};

/**
 * Read the result of a fetch.get, and take its descriptor from @channel; a file of 0
 * bytes has no descriptor. Errors: MSD_INTERNAL, MSD_BAD_REQUEST, MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_fetched_read(struct msd_conn *channel,
					struct msd_unpack *unpack,
					struct msd_span result, struct msd_fetched *ret,
					struct msd_diag *d);

#endif
