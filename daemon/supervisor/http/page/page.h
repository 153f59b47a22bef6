#ifndef MSD_SUPERVISOR_PAGE_H
#define MSD_SUPERVISOR_PAGE_H

/* The status page, a single file that contacts only its daemon, and its data: the
 * replies of server.info, module.list and module.describe as JSON. */

#include "daemon/supervisor/http/page/module_listing.h"
#include "proto/base/bytes.h"
#include "proto/base/diag.h"

struct msd_http_exchange;

/** `/`: the page, which needs no rights, because it contains no data. */
void msd_page(struct msd_http_exchange *a);
/** `/status/MODULE`: all data of one module. */
void msd_page_module(struct msd_http_exchange *a);
/**
 * Append @packed, msgpack with text keys, as JSON to the body of @a. Errors: those of
 * msd_unpack().
 */
MSD_MUST_CHECK msd_err msd_page_put_packed(struct msd_http_exchange *a,
					   const struct msd_buf *packed,
					   struct msd_diag *d);

/* `GET /metrics`. */
struct msd_http_exchange;

/** Route handler. */
void msd_scrape(struct msd_http_exchange *a);

/* `GET /status`: the data of the status page, about the daemon and its modules. */

struct msd_http_exchange;

extern const struct msd_module_listing msd_status_roll;
/** Route handler. */
void msd_status(struct msd_http_exchange *a);

#endif
