#ifndef MSD_FETCH_NET_H
#define MSD_FETCH_NET_H
/*
 * libcurl's transfers on a libuv loop: its sockets are polled, its one timer is a
 * timer of the loop.
 */
#include <curl/curl.h>
#include <uv.h>

#include "proto/diag.h"

struct msd_net {
	uv_loop_t *loop;
	CURLM *multi;
	uv_timer_t timer;
};

/* What an easy handle is begun for; embedded by who begins it. */
struct msd_net_call {
	CURL *easy; /* borrowed */
	/** It has ended, and is no longer the net's; once, never before begin returned.
	 */
	void (*done)(struct msd_net_call *call, CURLcode rc);
};

/** No call yet, on @loop, which must outlive it. Errors: MSD_NOMEM. */
MSD_MUST_CHECK msd_err msd_net_init(struct msd_net *n, uv_loop_t *loop,
				    struct msd_diag *d);
/** Begin @call. MSD_NOMEM. */
MSD_MUST_CHECK msd_err msd_net_begin(struct msd_net *n, struct msd_net_call *call,
				     struct msd_diag *d);
/** End it before its time: done() does not come. Not from within a callback of the easy
 * handle. */
void msd_net_end(struct msd_net *n, struct msd_net_call *call);

#endif
