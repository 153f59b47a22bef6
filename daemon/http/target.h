#ifndef MSD_HTTP_TARGET_H
#define MSD_HTTP_TARGET_H
/* What a request asks for, as its first line has it, and at which host. */
#include "proto/bytes.h"

/**
 * Cut *@target, of a request whose field says *@host: of one that is whole,
 * "http://HOST/PATH", the path stays, "/" where there is none, and *@host is its host
 * (RFC 9112, 3.2.2). Of any other both stay. False: what is the host then is none, or
 * has a user.
 */
MSD_MUST_CHECK bool msd_http_target_cut(struct msd_span *target, struct msd_span *host);

#endif
