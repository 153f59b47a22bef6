#ifndef MSD_SUPERVISOR_SERVER_H
#define MSD_SUPERVISOR_SERVER_H
/*
 * The supervisor: one libuv loop that owns all objects below. It never opens a module
 * and never touches a device, so a module cannot crash it.
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
#include "daemon/stream/wire.h"
#include "daemon/supervisor/config/reload.h"
#include "daemon/supervisor/config/wanted.h"
#include "daemon/supervisor/edge/edge.h"
#include "daemon/supervisor/edge/methods/devices.h"
#include "daemon/supervisor/facts/answer_desk.h"
#include "daemon/supervisor/facts/device_gauges.h"
#include "daemon/supervisor/fetch/fetcher.h"
#include "daemon/supervisor/keep/keeper.h"
#include "daemon/supervisor/memory_trim.h"
#include "daemon/supervisor/module/life/registry.h"
#include "daemon/supervisor/module/life/repository.h"
#include "daemon/supervisor/repository/source_pollers.h"
#include "daemon/supervisor/request/budget.h"
#include "daemon/supervisor/sd.h"
#include "daemon/supervisor/signals.h"
#include "daemon/supervisor/tls/library.h"
#include "proto/unpack.h"

struct msd_server {
	uv_loop_t loop;
	struct msd_reaper reaper;  /* reaps all child processes */
	struct msd_cgroups groups; /* for the workers */
	struct msd_wire wire;
	struct msd_deadlines deadlines;
	struct msd_limits limits;
	struct msd_edge edge;                /* clients */
	struct msd_module_registry registry; /* modules */
	struct msd_budget budget;            /* tensor bytes of all requests */
	struct msd_unpack
		unpack; /* of the message being read; not kept over callbacks */
	struct msd_devices devices;
	struct msd_device_gauges gauges;
	struct msd_answer_desk answers;
	struct msd_keeper keeper;                 /* open if there is a store */
	struct msd_fetcher fetcher;               /* main sets its path */
	struct msd_source_pollers source_pollers; /* modules with a source */
	struct msd_repository repository;         /* the editions of modules */
	struct msd_wanted wanted;                 /* modules with a section */
	struct msd_tls tls;                       /* main sets its path */
	char *worker_path;
	uint32_t n_files; /* files that are loaded at the start: each read may hang */
	uint32_t threads; /* size of each worker's pool; 0: the worker decides */
	const char *const *plugins; /* for the workers, terminated by NULL; borrowed */
	struct msd_module_registry_sandbox sandbox;
	bool keeps_workers; /* over a restart, if a service manager keeps them */
	const char *worker_user_name; /* borrowed; NULL: the daemon's user */
	struct msd_child_user worker_user;
	bool is_draining, is_ending; /* is_ending: stop without waiting */
	uint64_t dismissed_ms; /* when clients were notified of the stop; 0: not yet */
	int exit_code;
	struct msd_signals signals;
	struct msd_reload reload; /* set by main */
	struct msd_sd sd;         /* opened by main */
	uv_timer_t watchdog;      /* service manager's; not fed if the loop hangs */
	uint64_t ticked_ms;       /* time of the last `tick` */
	uv_timer_t tick;          /* stalled writers, idle memory */
	struct msd_memory_trim thrift;
	struct msd_deadline drain;
	struct msd_task space;
};

/** Prepare loop, wire and timers. */
MSD_MUST_CHECK msd_err msd_server_init(struct msd_server *s, struct msd_diag *d);
/** Tell the service manager that the daemon serves. */
void msd_server_tell_ready(struct msd_server *s);
/**
 * Read the configuration again; @ret describes the changes. Notifies the service
 * manager before and after. Errors: those of msd_reload().
 */
msd_err msd_server_reload(struct msd_server *s, struct msd_buf *ret,
			  struct msd_diag *d);
/** A module, a worker or a session is gone: stop the loop if a drain is complete. */
void msd_server_check_drained(struct msd_server *s);
/** Run until drained or stopped; returns the exit code. */
int msd_server_run(struct msd_server *s);
/**
 * Close and free everything; also call it after a failed init. Returns false if a
 * thread is still busy and may never finish: @s stays in use, and the process must
 * exit with _exit().
 */
bool msd_server_finish(struct msd_server *s);
/** Stop accepting, finish running requests, stop. @now: do not wait. Idempotent. */
void msd_server_drain(struct msd_server *s, bool now);

#endif
