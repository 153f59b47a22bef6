#ifndef MSD_FETCH_SINK_H
#define MSD_FETCH_SINK_H
/* Where the bytes of a download go; embedded by who has them. */
#include "proto/bytes.h"
#include "proto/diag.h"

struct msd_sink {
	uint64_t bytes;  /* that it has */
	bool is_checked; /* its owner knows their hash: resuming cannot mix two files */
	/** So many come in all. An error ends the download. */
	msd_err (*expect)(struct msd_sink *s, uint64_t bytes, struct msd_diag *d);
	msd_err (*take)(struct msd_sink *s, struct msd_span bytes, struct msd_diag *d);
	/** Forget what has come. */
	msd_err (*restart)(struct msd_sink *s, struct msd_diag *d);
};

#endif
