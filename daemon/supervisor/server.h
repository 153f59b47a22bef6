#ifndef MSD_SUPERVISOR_SERVER_H
#define MSD_SUPERVISOR_SERVER_H
/*
 * The supervisor: one libuv loop that owns everything below. It never opens a module
 * and never touches a device, so no module can take it down.
 *
 *   server --> listeners
 *          --> sessions (one per client connection) --> requests in flight, handles
 *          --> modules (by name) --> queue of requests --> worker processes
 */
#include <uv.h>

#include "daemon/child/cgroup.h"
#include "daemon/child/reaper.h"
#include "daemon/child/user.h"
#include "daemon/limits.h"
#include "daemon/supervisor/edge/devices.h"
#include "daemon/supervisor/edge/edge.h"
#include "daemon/supervisor/facts/device_gauges.h"
#include "daemon/supervisor/facts/metrics_desk.h"
#include "daemon/supervisor/fetch/fetcher.h"
#include "daemon/supervisor/keep/keeper.h"
#include "daemon/supervisor/module/house.h"
#include "daemon/supervisor/reload.h"
#include "daemon/supervisor/request/budget.h"
#include "daemon/supervisor/sd.h"
#include "daemon/supervisor/signals.h"
#include "daemon/supervisor/supplies.h"
#include "daemon/supervisor/thrift.h"
#include "daemon/supervisor/tls/library.h"
#include "daemon/supervisor/wanted.h"
#include "daemon/wire/wire.h"
#include "proto/unpack.h"

struct msd_server {
	uv_loop_t loop;
	struct msd_reaper reaper;  /* of all that it starts */
	struct msd_cgroups groups; /* of the workers */
	struct msd_wire wire;
	struct msd_deadlines deadlines;
	struct msd_limits limits;
	struct msd_edge edge;     /* of the clients */
	struct msd_house house;   /* of the modules */
	struct msd_budget budget; /* tensor bytes of all requests */
	struct msd_unpack
		unpack; /* of what is read right now; never kept over a callback */
	struct msd_devices devices;
	struct msd_device_gauges gauges;
	struct msd_metrics_desk metrics;
	struct msd_keeper keeper;     /* open when there is a store */
	struct msd_fetcher fetcher;   /* its path is main's to say */
	struct msd_supplies supplies; /* of modules with a source */
	struct msd_wanted wanted;     /* of modules with a section */
	struct msd_tls tls;           /* its path is main's to say */
	char *worker_path;
	uint32_t n_files;           /* that are loaded at the start: each may hang */
	uint32_t threads;           /* of each worker's pool; 0: the worker decides */
	const char *const *plugins; /* of the workers, ended by NULL; borrowed */
	struct msd_house_sandbox sandbox;
	bool keeps_workers;           /* over a restart, where somebody keeps them */
	const char *worker_user_name; /* borrowed; NULL: workers are the daemon's own */
	struct msd_child_user worker_user;
	bool is_draining, is_ending; /* ending: without waiting for anybody */
	uint64_t dismissed_ms;       /* since when who is left is told; 0: nobody was */
	int exit_code;
	struct msd_signals signals;
	struct msd_reload reload; /* main's to fill */
	struct msd_sd sd;         /* main's to open */
	uv_timer_t watchdog; /* of the service manager: a loop that hangs feeds none */
	uint64_t ticked_ms;  /* when `tick` came last */
	uv_timer_t tick;     /* stalled writers, cold memory */
	struct msd_thrift thrift;
	struct msd_deadline drain, space;
};

/** Prepare loop, wire and timers. */
MSD_MUST_CHECK msd_err msd_server_init(struct msd_server *s, struct msd_diag *d);
/** Tell the service manager that it serves. */
void msd_server_tell_ready(struct msd_server *s);
/** Read the configuration again; @ret says what changed. The service manager is told on
 * both sides of it. Errors: those of msd_reload(). */
msd_err msd_server_reload(struct msd_server *s, struct msd_buf *ret,
			  struct msd_diag *d);
/** A module, a worker or a session is gone: end the loop once a drain is complete. */
void msd_server_check_drained(struct msd_server *s);
/** Run until drained or told to end; returns the exit code. */
int msd_server_run(struct msd_server *s);
/** Close what is left and free it; after a failed init, too. False: a thread still
 * works for it and may never end; @s stays in use, and the process is to end by
 * _exit(). */
bool msd_server_finish(struct msd_server *s);
/** Stop accepting, finish what runs, end; @now does not wait. Idempotent. */
void msd_server_drain(struct msd_server *s, bool now);

#endif
