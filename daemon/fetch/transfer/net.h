#ifndef MSD_FETCH_NET_H
#define MSD_FETCH_NET_H
/* Run libcurl transfers on a libuv loop: the loop polls the sockets, and one loop
 * timer serves libcurl's timer. */
#include <curl/curl.h>
#include <uv.h>

#include "proto/base/diag.h"

struct msd_net {
	uv_loop_t *loop;
	CURLM *multi;
	uv_timer_t timer;
};

/* One transfer of an easy handle; embedded by its owner. */
struct msd_net_call {
	CURL *easy; /* borrowed */
	/**
	 * Called once when the transfer has ended and left the net, never before
	 * begin returns.
	 */
	void (*done)(struct msd_net_call *call, CURLcode rc);
};

/** Initialize without calls on @loop. The loop must outlive @n. Errors: MSD_NOMEM. */
MSD_MUST_CHECK msd_err msd_net_init(struct msd_net *n, uv_loop_t *loop,
				    struct msd_diag *d);
/** Start @call. MSD_NOMEM. */
MSD_MUST_CHECK msd_err msd_net_begin(struct msd_net *n, struct msd_net_call *call,
				     struct msd_diag *d);
/**
 * Abort @call: done() is not called. Not allowed within a callback of the easy
 * handle.
 */
void msd_net_end(struct msd_net *n, struct msd_net_call *call);

#endif
