#ifndef MSD_FETCH_SINK_H
#define MSD_FETCH_SINK_H
/* Destination of a download's bytes; embedded by its owner. */
#include "proto/base/bytes.h"
#include "proto/base/diag.h"

struct msd_sink {
	uint64_t bytes;  /* received so far */
	bool is_checked; /* the owner checks a digest, so resuming cannot mix two files
			  */
	/** Announces the total size. An error ends the download. */
	msd_err (*expect)(struct msd_sink *s, uint64_t bytes, struct msd_diag *d);
	msd_err (*take)(struct msd_sink *s, struct msd_span bytes, struct msd_diag *d);
	/** Discard the received bytes. */
	msd_err (*restart)(struct msd_sink *s, struct msd_diag *d);
};

#endif
