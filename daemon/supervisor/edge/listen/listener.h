#ifndef MSD_SUPERVISOR_LISTENER_H
#define MSD_SUPERVISOR_LISTENER_H
/* A listening socket. Each connection becomes a session: frontend.h. */
#include "daemon/supervisor/edge/edge.h"
#include "daemon/supervisor/edge/listen/listen_socket.h"
#include "daemon/supervisor/edge/listen/proxy_accept.h"

struct msd_listener {
	struct msd_listening listening;
	struct msd_edge *edge;
	struct msd_accept_path way;
	const char *scheme; /* msd_listen_options.scheme; NULL: the daemon's protocol */
	struct msd_address address;
	int fd;
	bool is_inherited; /* the service manager owns its socket file */
	/* The bound socket file; 0: no file. */
	dev_t file_dev;
	ino_t file_ino;
	uv_poll_t poll;
	uv_timer_t retry; /* after a fault */
	struct msd_log_rate faults;
	int open_handles;
};

/** Open @address and accept connections. Errors: those of msd_listen_socket_open(). */
MSD_MUST_CHECK msd_err msd_listener_open(struct msd_edge *e,
					 const struct msd_address *address,
					 const struct msd_listen_options *options,
					 struct msd_diag *d);
/**
 * Accept connections from @fd, an inherited listening socket. Takes @fd. Errors:
 * those of msd_listen_socket_inherited().
 */
MSD_MUST_CHECK msd_err msd_listener_adopt(struct msd_edge *e, int fd,
					  const struct msd_listen_options *options,
					  struct msd_diag *d);
/**
 * Stop accepting on all addresses. With @but_asking, stop only those of the daemon's
 * protocol; the rest still report that it drains. Connections in the backlog are
 * accepted, or wait for the next daemon if the socket is inherited. Socket files
 * created here are removed. The listeners are freed in a later loop iteration.
 */
void msd_listeners_close(struct msd_edge *e, bool but_asking);

#endif
