#ifndef MSD_FETCH_DESK_H
#define MSD_FETCH_DESK_H
/*
 * The channel to the supervisor: what it asks for becomes jobs, what comes of them is
 * answered. Those that depend on the machine's devices wait while these are asked for,
 * and are begun again. CHANNEL.md has the messages.
 */
#include "daemon/fetch/landing.h"
#include "daemon/fetch/net.h"
#include "daemon/fetch/platform.h"
#include "daemon/wire/conn.h"
#include "proto/unpack.h"

struct msd_desk {
	uv_loop_t *loop;
	struct msd_wire wire;
	struct msd_conn channel;
	struct msd_net net;
	struct msd_unpack unpack;
	struct msd_list jobs;    /* msd_job.link */
	struct msd_list waiting; /* for the devices; they have been asked for */
	struct msd_platform_machine machine;
	struct msd_landing_room room; /* of all jobs, as the last one was told */
	uv_timer_t progress;
	int arriving; /* the folder for what is broken off; -1: none */
};

/** Listen to the supervisor at @channel_fd, which is taken. @arriving is borrowed; -1:
 * there is no such folder. The loop ends when the supervisor is gone. */
MSD_MUST_CHECK msd_err msd_desk_open(struct msd_desk *desk, uv_loop_t *loop,
				     int channel_fd, int arriving, struct msd_diag *d);

#endif
