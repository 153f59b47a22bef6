#ifndef MSD_SUPERVISOR_PAGE_H
#define MSD_SUPERVISOR_PAGE_H
/*
 * The status page, one file that asks nobody but its daemon, and what it asks: the
 * answers of server.info, module.list and module.describe as JSON.
 */
#include "proto/bytes.h"
#include "proto/diag.h"

struct msd_asking;

/** `/`: the page, which is anybody's, for it says nothing. */
void msd_page(struct msd_asking *a);
/** `/status/MODULE`: all of one. */
void msd_page_module(struct msd_asking *a);
/** Append @packed, msgpack with keys that are text, as JSON to the body of @a. Errors:
 * those of msd_unpack(). */
MSD_MUST_CHECK msd_err msd_page_put_packed(struct msd_asking *a,
					   const struct msd_buf *packed,
					   struct msd_diag *d);

#endif
