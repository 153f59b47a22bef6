#ifndef MSD_HTTP_TARGET_H
#define MSD_HTTP_TARGET_H
/* What a request asks for, as its first line has it. */
#include "proto/bytes.h"

/**
 * Cut @target: of one that is whole, "http://HOST/PATH", *@ret_host is its host, which
 * counts instead of the field's (RFC 9112, 3.2.2), and *@ret_path the rest, "/" where
 * there is none. Of any other *@ret_host has n 0, and the path is itself. False: it has
 * no host, or a user.
 */
MSD_MUST_CHECK bool msd_http_target_cut(struct msd_span target,
					struct msd_span *ret_host,
					struct msd_span *ret_path);

#endif
