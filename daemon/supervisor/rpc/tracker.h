#ifndef MSD_SUPERVISOR_TRACKER_H
#define MSD_SUPERVISOR_TRACKER_H
/*
 * The connection to a tracker of TVM's RPC, which sends clients to the servers that
 * have a free place. The daemon announces a match key for each free place. A client
 * that shows it gets that place.
 */
#include "daemon/supervisor/edge/edge.h"
#include "daemon/supervisor/rpc/match_key.h"

struct msd_tracker;

/**
 * Connect to the tracker of @settings, which must outlive it, now and whenever the
 * connection ends. @port: the port of the listener. Errors: MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_tracker_open(struct msd_edge *e,
					const struct msd_rpc_settings *settings,
					uint16_t port, struct msd_tracker **ret,
					struct msd_diag *d);
/** Return the place of a client that shows @key, NULL if the key is not valid. */
struct msd_match_key *msd_tracker_take_place(struct msd_tracker *t,
					     struct msd_span key);
/** The session of @place has ended: announce it with another key. */
void msd_tracker_free_place(struct msd_tracker *t, struct msd_match_key *place);
/** Close the connection, for good: the tracker sends no more clients. */
void msd_tracker_leave(struct msd_tracker *t);
/** Free it. NULL is allowed. */
void msd_tracker_close(struct msd_tracker *t);

#endif
