#ifndef MSD_HTTP_TARGET_H
#define MSD_HTTP_TARGET_H
/* Split the request target into host and path. */
#include "proto/base/bytes.h"

/**
 * Normalize *@target of a request with the Host field *@host. An absolute target,
 * "http://HOST/PATH", becomes its path, "/" if empty, and *@host becomes its host
 * (RFC 9112, 3.2.2). Any other target stays as it is. False if the resulting host is
 * invalid or has a user.
 */
MSD_MUST_CHECK bool msd_http_target_cut(struct msd_span *target, struct msd_span *host);

#endif
