#ifndef MSD_SUPERVISOR_LISTENER_H
#define MSD_SUPERVISOR_LISTENER_H
/* A listening socket; each connection becomes a session: front.h. */
#include "daemon/supervisor/edge/edge.h"
#include "daemon/supervisor/edge/gate.h"
#include "daemon/supervisor/edge/listen_socket.h"

struct msd_listener {
	struct msd_listening listening;
	struct msd_edge *edge;
	struct msd_way way;
	const char *scheme; /* msd_listen_options; NULL: the protocol */
	struct msd_address address;
	int fd;
	bool is_inherited; /* its file is the service manager's */
	/* Of the file that its socket was bound to; 0: it has none. */
	dev_t file_dev;
	ino_t file_ino;
	uv_poll_t poll;
	uv_timer_t retry; /* after a fault */
	struct msd_log_rate faults;
	int open_handles;
};

/** Open @address and accept from it. Errors: those of msd_listen_socket_open(). */
MSD_MUST_CHECK msd_err msd_listener_open(struct msd_edge *e,
					 const struct msd_address *address,
					 const struct msd_listen_options *options,
					 struct msd_diag *d);
/** Accept from @fd, a socket that listens and was handed over, which it takes. Errors:
 * those of msd_listen_socket_inherited(). */
MSD_MUST_CHECK msd_err msd_listener_adopt(struct msd_edge *e, int fd,
					  const struct msd_listen_options *options,
					  struct msd_diag *d);
/** Stop accepting on all addresses, or, @but_asking, on those of the protocol alone: by
 * the others one still asks whether it drains. Who has connected already comes in, or
 * waits for the next daemon where the socket was handed over. Remove the socket files
 * that were made here. The listeners are freed on a later turn. */
void msd_listeners_close(struct msd_edge *e, bool but_asking);

#endif
