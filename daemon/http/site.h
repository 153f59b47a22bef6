#ifndef MSD_HTTP_SITE_H
#define MSD_HTTP_SITE_H
/*
 * Detect requests that a page of another site makes. A browser sends what any page
 * asks for, also to loopback. It sets `Origin` if the page is of another site, but
 * not if that site's name was made to resolve to this server (DNS rebinding).
 */
#include <stdbool.h>

#include "proto/base/bytes.h"

/** True if @origin (the Origin field) is the site of @host (the Host field). */
bool msd_site_is_own(struct msd_span origin, struct msd_span host);
/**
 * True if the site @host, with or without a port, may be a foreign name that resolves
 * here. False for an address, for `localhost` and for a name without a dot.
 */
bool msd_site_may_move(struct msd_span host);

#endif
