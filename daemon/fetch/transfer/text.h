#ifndef MSD_FETCH_TEXT_H
#define MSD_FETCH_TEXT_H
/* A sink in memory for small texts: manifests, tokens. */
#include "daemon/fetch/transfer/sink.h"

#define MSD_TEXT_MAX (1u << 20)

struct msd_text {
	struct msd_sink sink;
	struct msd_buf bytes;
};

/** Initialize empty; the buffer's owner finishes it. */
void msd_text_init(struct msd_text *t);

#endif
