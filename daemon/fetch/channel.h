#ifndef MSD_FETCH_CHANNEL_H
#define MSD_FETCH_CHANNEL_H
/*
 * The channel to the supervisor. Each fetch.get request becomes a job, and its result
 * is sent back. If a job depends on the machine's devices, it waits for the device
 * list and is then restarted. CHANNEL.md describes the messages.
 */
#include "daemon/fetch/registry/platform.h"
#include "daemon/fetch/transfer/download_buffer.h"
#include "daemon/fetch/transfer/net.h"
#include "daemon/stream/conn.h"
#include "proto/unpack.h"

struct msd_fetch_channel {
	uv_loop_t *loop;
	struct msd_wire wire;
	struct msd_conn channel;
	struct msd_net net;
	struct msd_unpack unpack;
	struct msd_list jobs;    /* msd_job.link */
	struct msd_list waiting; /* waiting for the device list, which was requested */
	struct msd_platform_machine machine;
	struct msd_download_buffer_room
		room; /* memory limit of all jobs, from the last fetch.get */
	uv_timer_t progress;
	int arriving; /* directory for unfinished downloads; -1 if none */
};

/**
 * Listen to the supervisor at @channel_fd and take ownership of it. @arriving is
 * borrowed; -1 if no such directory exists. The process exits when the supervisor
 * closes the channel.
 */
MSD_MUST_CHECK msd_err msd_fetch_channel_open(struct msd_fetch_channel *desk,
					      uv_loop_t *loop, int channel_fd,
					      int arriving, struct msd_diag *d);

#endif
