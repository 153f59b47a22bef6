#ifndef MSD_SUPERVISOR_AGENT_CHECK_H
#define MSD_SUPERVISOR_AGENT_CHECK_H
/*
 * The agent check of haproxy: the daemon answers each connection with one line and
 * closes it. The line tells the capacity of the daemon or of one module. See
 * `agent-check` in haproxy's configuration manual.
 */
#include "daemon/supervisor/edge/listen/listen_socket.h"

#define MSD_AGENT_LINE_MAX 32u

/**
 * Format the line: `drain` if the daemon @is_leaving, `down` if the module or the
 * daemon is not @is_ready. Otherwise the weight in percent: workers divided by
 * workers plus waiting requests, at least 1.
 */
void msd_agent_line(bool is_leaving, bool is_ready, uint32_t n_workers,
		    uint32_t n_waiting, char ret[MSD_AGENT_LINE_MAX]);
/**
 * Listen on @address with the options @how and answer for @module, or for all modules
 * if it is "". The caller keeps the name alive. Errors: those of msd_listener_open().
 */
MSD_MUST_CHECK msd_err msd_agent_check_open(struct msd_edge *e,
					    const struct msd_address *address,
					    const char *module,
					    const struct msd_listen_options *how,
					    struct msd_diag *d);

#endif
