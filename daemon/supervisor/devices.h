#ifndef MSD_SUPERVISOR_DEVICES_H
#define MSD_SUPERVISOR_DEVICES_H
/*
 * What devices this machine has. The supervisor touches no driver: at the first
 * question a short-lived `modserd-worker --devices` looks and prints one response body.
 * Its answer is kept. A driver that crashes or hangs costs that process only, and the
 * answer says so.
 */
#include "daemon/child/child.h"
#include "daemon/supervisor/deadline.h"
#include "daemon/wire/list.h"
#include "proto/bytes.h"

struct msd_req;
struct msd_server;

struct msd_devices {
	struct msd_list waiters; /* msd_req.link */
	struct msd_buf bytes;    /* what the process has written */
	struct msd_buf found;    /* the answer, msgpack; empty: not known yet */
	struct msd_child *child; /* NULL: none looks now */
	struct msd_deadline timeout;
};

void msd_devices_init(struct msd_devices *devices);
/** End the process that looks, if there is one. */
void msd_devices_stop(struct msd_devices *devices);
void msd_devices_finish(struct msd_devices *devices);
/**
 * Answer @r (a server.info; taken over) when the devices are known, which may be before
 * it returns. Loop thread only.
 */
void msd_devices_answer(struct msd_server *s, struct msd_req *r);

#endif
