#ifndef MSD_HTTP_SITE_H
#define MSD_HTTP_SITE_H
/*
 * Whether a page of another site may be what asks. A browser sends what any page tells
 * it to, also to loopback: it says so in `Origin` when the page is of another site, and
 * not when the site's name was made to lead here (DNS rebinding).
 */
#include <stdbool.h>

#include "proto/bytes.h"

/** @origin, the field's value, is of the site that @host, the Host field's, names. */
bool msd_site_is_own(struct msd_span origin, struct msd_span host);
/** The site @host, with its port or without, may be somebody's who has its name lead
 * where he likes: no address, no `localhost`, no name of one word. */
bool msd_site_may_move(struct msd_span host);

#endif
