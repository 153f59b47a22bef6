#ifndef MSD_SUPERVISOR_AGENT_CHECK_H
#define MSD_SUPERVISOR_AGENT_CHECK_H
/*
 * The agent check of haproxy: whoever connects is told in one line how much the daemon,
 * or one of its modules, can take, and the connection ends. Of the line: haproxy's
 * configuration manual, `agent-check`.
 */
#include "daemon/supervisor/edge/listen_socket.h"

#define MSD_AGENT_LINE_MAX 32u

/**
 * The line: `drain` when the daemon @is_leaving, `down` until what was asked about
 * @is_ready, else the weight in percent: workers by workers and waiting requests, at
 * least 1.
 */
void msd_agent_line(bool is_leaving, bool is_ready, uint32_t n_workers,
		    uint32_t n_waiting, char ret[MSD_AGENT_LINE_MAX]);
/** Answer it on @address by the rules of @how, of that @module, whose name is kept by
 * the caller, or, "", of all. Errors: those of msd_listener_open(). */
MSD_MUST_CHECK msd_err msd_agent_check_open(struct msd_edge *e,
					    const struct msd_address *address,
					    const char *module,
					    const struct msd_listen_options *how,
					    struct msd_diag *d);

#endif
