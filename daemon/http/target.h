#ifndef MSD_HTTP_TARGET_H
#define MSD_HTTP_TARGET_H

/* Split the request target into host and path. */

#include <stdbool.h>

#include "proto/base/bytes.h"

/**
 * Normalize *@target of a request with the Host field *@host. An absolute target,
 * "http://HOST/PATH", becomes its path, "/" if empty, and *@host becomes its host
 * (RFC 9112, 3.2.2). Any other target stays as it is. False if the resulting host is
 * invalid or has a user.
 */
MSD_MUST_CHECK bool msd_http_target_cut(struct msd_span *target, struct msd_span *host);

/* Split the path of a request target into segments, and decode each one. Escaped
 * slashes do not split, and `..` is an ordinary name. The query is dropped. */

#define MSD_HTTP_SEGMENTS 8u
#define MSD_HTTP_PATH_BYTES 1024u

struct msd_http_path {
	struct msd_span segments[MSD_HTTP_SEGMENTS]; /* point into `bytes` */
	unsigned n;                                  /* 0 for "/" */
	uint8_t bytes[MSD_HTTP_PATH_BYTES];
};

/**
 * False if the path does not begin with a slash, has an invalid escape or one for
 * NUL, or exceeds the limit of segments or bytes.
 */
MSD_MUST_CHECK bool msd_http_path_read(struct msd_span target,
				       struct msd_http_path *ret);

#endif
