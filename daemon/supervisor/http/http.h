#ifndef MSD_SUPERVISOR_HTTP_H
#define MSD_SUPERVISOR_HTTP_H
/*
 * The HTTP frontend (docs/reference/http.md): a separate listener and its HTTP
 * connections (http_conn.h). Only --http creates it; otherwise msd_edge.http is NULL,
 * and it costs nothing.
 *
 *   listener --> http (accept) --> visit (bytes to requests) --> route -->
 *       health, repository
 */
#include "daemon/loop/work.h"
#include "daemon/supervisor/edge/edge.h"
#include "daemon/supervisor/edge/listen/listen_socket.h"
#include "daemon/supervisor/http/page/history.h"

#define MSD_HTTP_JSON_THREADS 2u

struct msd_http {
	struct msd_edge *edge;
	struct msd_work_lane json; /* reads and writes JSON of infer */
	struct msd_history history;
	struct msd_deadline look; /* samples the modules' counters */
};

/**
 * Listen on @address with the options @how. Errors: those of msd_listener_open();
 * MSD_UNSUPPORTED if HTTP was not built.
 */
MSD_MUST_CHECK msd_err msd_http_open(struct msd_edge *e,
				     const struct msd_address *address,
				     const struct msd_listen_options *how,
				     struct msd_diag *d);
/** Call it when no connection is left. */
void msd_http_finish(struct msd_edge *e);

#endif
