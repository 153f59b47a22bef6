#ifndef MODSER_CLIENT_META_H
#define MODSER_CLIENT_META_H
/* What the daemon says of how an answer came to be: its times, and that it leaves. */
#include "client/modser.h"
#include "proto/bytes.h"

/** Take what is known of the map @meta, empty where there is none, into @r. A key of a
 * later daemon, with a value of its own, ends the search. */
void msd_meta_read(struct msd_span meta, modser_result *r);

#endif
