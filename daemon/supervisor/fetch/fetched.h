#ifndef MSD_SUPERVISOR_FETCHED_H
#define MSD_SUPERVISOR_FETCHED_H
/* The result of a fetch.get, as modserd-fetch gives it: checked like a stranger's. */
#include "daemon/supervisor/source/source.h"
#include "daemon/wire/conn.h"
#include "proto/unpack.h"
#include "store/trust.h"

struct msd_fetched {
	struct msd_source source; /* without a file: the asker has it */
	/* Of a manifest; 0 where there is none. */
	uint64_t created_s; /* since the epoch */
	uint64_t warmup;    /* rounds of the tests before it serves */
	uint32_t n_signers; /* trusted keys that have signed it */
	struct msd_key_id signers[MSD_TRUST_KEYS];
	/* Borrowed from the result. */
	struct msd_span file;
	struct msd_span etag;  /* empty: it has none */
	struct msd_span tests; /* an array, as in CHANNEL.md; empty: there are none */
};

/** Read the result of a fetch.get and take the descriptor that came with it from
 * @channel; of 0 bytes none came. Errors: MSD_INTERNAL, MSD_BAD_REQUEST, MSD_NOMEM. */
MSD_MUST_CHECK msd_err msd_fetched_read(struct msd_conn *channel,
					struct msd_unpack *unpack,
					struct msd_span result, struct msd_fetched *ret,
					struct msd_diag *d);

#endif
