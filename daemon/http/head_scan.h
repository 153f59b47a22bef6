#ifndef MSD_HTTP_HEAD_SCAN_H
#define MSD_HTTP_HEAD_SCAN_H
/*
 * Find the end of a request's head, and check that no other parser would see a
 * different end. Lines end by CR LF only, field names are tokens up to the colon,
 * there are no folded lines and no control characters. A laxer proxy in front must
 * not see other requests than we do, so this check runs before the parser.
 *
 * The scan is incremental and looks at each byte once. A zeroed struct is the start
 * state.
 */
#include <stdbool.h>

#include "proto/base/bytes.h"

struct msd_head_scan {
	unsigned state;
	const char *why; /* the error; NULL if none so far. Static */
};

/**
 * Scan more of the head. Returns the number of bytes of @s that belong to it: all of
 * them unless the head ends. *@ret_ended is true if the last of them ends the head or
 * is invalid.
 */
size_t msd_head_scan(struct msd_head_scan *h, struct msd_span s, bool *ret_ended);

#endif
