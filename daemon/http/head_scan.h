#ifndef MSD_HTTP_HEAD_SCAN_H
#define MSD_HTTP_HEAD_SCAN_H
/*
 * Where the head of a request ends, and that nobody could find another end of it: lines
 * end by CR LF alone, names of fields are tokens up to their colon, no line continues
 * the one before, no control characters. A proxy in front that is laxer must not see
 * other requests than we do, so it is looked at before a parser is.
 *
 * It goes on from piece to piece, each byte looked at once. Zero is the beginning.
 */
#include <stdbool.h>

#include "proto/bytes.h"

struct msd_head_scan {
	unsigned state;
	const char *why; /* what is wrong; NULL: nothing so far. Static */
};

/**
 * Look at more of the head. Returns the bytes of @s that belong to it: all of them
 * while it goes on. True in *@ret_ended: the last of these ends it, or is wrong.
 */
size_t msd_head_scan(struct msd_head_scan *h, struct msd_span s, bool *ret_ended);

#endif
