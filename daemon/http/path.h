#ifndef MSD_HTTP_PATH_H
#define MSD_HTTP_PATH_H
/*
 * The path of a request's target, cut into its segments, each with its escapes undone:
 * so what is escaped never cuts, and `..` is a name like any other. What stands behind
 * a question mark is left out.
 */
#include <stdbool.h>

#include "proto/bytes.h"

#define MSD_HTTP_SEGMENTS 8u
#define MSD_HTTP_PATH_BYTES 1024u

struct msd_http_path {
	struct msd_span segments[MSD_HTTP_SEGMENTS]; /* in `bytes` */
	unsigned n;                                  /* 0: "/" */
	uint8_t bytes[MSD_HTTP_PATH_BYTES];
};

/** False: it does not begin with a slash, has an escape that is none or gives NUL, or
 * has more segments or bytes than there is room for. */
MSD_MUST_CHECK bool msd_http_path_read(struct msd_span target,
				       struct msd_http_path *ret);

#endif
