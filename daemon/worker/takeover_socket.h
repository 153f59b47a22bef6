#ifndef MSD_WORKER_TAKEOVER_SOCKET_H
#define MSD_WORKER_TAKEOVER_SOCKET_H
/*
 * Accepts the next supervisor, if this worker may outlive its current one. The door
 * is a socket whose other end the supervisor and the service manager hold. A message
 * on it brings one end of a new channel. The old channel is not continued, because it
 * is unknown how much of it was read.
 *
 *   (one channel) --its end--> (waits) --a channel arrives--> (one channel)
 *        '------------- a channel arrives: the old one is closed --^
 *
 * When the other end is closed in all processes, no supervisor can connect: the
 * process exits.
 */
#include <stdbool.h>
#include <uv.h>

#include "proto/base/diag.h"

struct msd_worker;

struct msd_takeover_socket {
	struct msd_worker *worker;
	uv_poll_t poll;
	int fd;   /* -1: none */
	int next; /* new channel that waits for the end of the old one; -1: none */
	bool is_between; /* no channel is open now */
};

/** Watch @fd, which the worker owns from now on; -1: no door. */
MSD_MUST_CHECK msd_err msd_takeover_socket_open(struct msd_worker *w, uv_loop_t *loop,
						int fd, struct msd_diag *d);
/** True if the end of the channel with @err also ends the worker. */
bool msd_takeover_socket_is_end(const struct msd_takeover_socket *door, msd_err err);
/** The channel is closed; call it after msd_takeover_socket_is_end() returned false. */
void msd_takeover_socket_on_closed(struct msd_takeover_socket *door);

#endif
