#ifndef MSD_SUPERVISOR_HTTP_H
#define MSD_SUPERVISOR_HTTP_H
/*
 * The HTTP front (docs/http.md): a listener of its own, whose connections are visits
 * (visit.h). It is made by --http alone; without it msd_edge.http is NULL, and nothing
 * of it costs anything.
 *
 *   listener --> http (who comes in) --> visit (bytes to requests) --> route -->
 * health, repository
 */
#include "daemon/supervisor/edge/edge.h"
#include "daemon/supervisor/edge/listen_socket.h"
#include "daemon/supervisor/http/history.h"
#include "daemon/supervisor/request/chore.h"

struct msd_http {
	struct msd_edge *edge;
	struct msd_list visits; /* msd_visit.link */
	struct msd_chores chores;
	struct msd_history history;
	struct msd_deadline look;  /* at what it keeps of them */
	struct msd_deadline watch; /* look which of them are to be ended */
};

/** Listen on @address by the rules of @how. Errors: those of msd_listener_open();
 * MSD_UNSUPPORTED where it was not built. */
MSD_MUST_CHECK msd_err msd_http_open(struct msd_edge *e,
				     const struct msd_address *address,
				     const struct msd_listen_options *how,
				     struct msd_diag *d);
/** There are visits: look at them when it is time. */
void msd_http_watch(struct msd_http *h);
/** End all visits; they are gone on a later turn. Nothing, where there is no HTTP. */
void msd_http_close(struct msd_edge *e);
/** The daemon ends: of each connection what has come is read, and answered. */
void msd_http_dismiss(struct msd_edge *e);
/** A client has not read all of its answer, or waits for it. */
bool msd_http_is_owing(const struct msd_edge *e);
bool msd_http_is_empty(const struct msd_edge *e);
/** After it is empty. */
void msd_http_finish(struct msd_edge *e);

#endif
