#ifndef MSD_SUPERVISOR_DEVICES_H
#define MSD_SUPERVISOR_DEVICES_H
/*
 * What devices this machine has. The supervisor touches no driver: at the first
 * question a short-lived `modserd-worker --devices` looks and prints one response body.
 * Its answer is kept. A driver that crashes or hangs costs that process only, and the
 * answer says so.
 */
#include <uv.h>

#include "daemon/wire/list.h"
#include "proto/bytes.h"

struct msd_req;
struct msd_server;

struct msd_devices {
	struct msd_list waiters; /* msd_req.link */
	struct msd_buf bytes;    /* what the process has written */
	struct msd_buf found;    /* the answer, msgpack; empty: not known yet */
	uv_process_t process;
	uv_pipe_t pipe;
	uv_timer_t timer;
	unsigned open_handles;
	bool is_running;
};

void msd_devices_init(struct msd_devices *devices);
void msd_devices_finish(struct msd_devices *devices);
/**
 * Answer @r (a server.info; taken over) when the devices are known. Loop thread only;
 * never before it has returned, unless they are known already.
 */
void msd_devices_answer(struct msd_server *s, struct msd_req *r);

#endif
