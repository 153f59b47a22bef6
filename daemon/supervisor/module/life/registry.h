#ifndef MSD_SUPERVISOR_REGISTRY_H
#define MSD_SUPERVISOR_REGISTRY_H
/* Module registry: the shared state of all modules. The server embeds it and sets it
 * up. Modules know no other part of the server, and nothing of the client side. */
#include <uv.h>

#include "daemon/loop/list.h"
#include "daemon/supervisor/module/handover/handover_pool.h"
#include "daemon/supervisor/module/stats/call_log.h"
#include "proto/base/spin.h"
#include "proto/words/sandbox_word.h"

struct msd_budget;
struct msd_child_user;
struct msd_module_registry;
struct msd_module;
struct msd_repository;

/* Permissions of modules besides computing; lists of paths, borrowed, end with NULL. */
struct msd_module_registry_sandbox {
	enum msd_sandbox_word word; /* default for modules without a setting */
	const char *const *reads, *const *writes;
};

/* Workers that outlive the daemon: handover.h. */
struct msd_module_registry_handover {
	bool is_on;                      /* new workers may be kept */
	struct msd_digest worker;        /* digest of the worker program */
	struct msd_handover_shelf shelf; /* workers that an earlier daemon left */
	struct msd_list artifacts;       /* their artifacts: handover_artifact.h */
	/**
	 * Store @n descriptors, which remain the caller's, in the service manager
	 * under @name. False: not stored.
	 */
	bool (*keep)(struct msd_module_registry *registry, const char *name,
		     const int *fds, unsigned n);
	/** Remove the descriptors of @name from the service manager. */
	void (*give_up)(struct msd_module_registry *registry, const char *name);
};

struct msd_module_registry {
	uv_loop_t *loop;
	struct msd_reaper *reaper;  /* of the workers */
	struct msd_cgroups *groups; /* of the workers; may be NULL */
	struct msd_wire *wire;
	struct msd_deadlines *deadlines;
	const struct msd_limits *limits;
	struct msd_budget *budget;  /* tensor bytes of all requests */
	struct msd_unpack *unpack;  /* message being parsed */
	char *worker_path;          /* borrowed */
	uint32_t threads;           /* in each worker's pool; 0: the worker decides */
	const char *const *plugins; /* paths, for the workers; end with NULL */
	struct msd_module_registry_sandbox sandbox;
	const struct msd_child_user *worker_user; /* NULL: the user of the daemon */
	struct msd_module_registry_handover warm;
	struct msd_repository *repository; /* the editions of the modules */
	struct msd_list modules;           /* msd_module.link, by name */
	uint32_t n_modules;                /* hidden successors included */
	uint64_t generation; /* changes when a name gets or loses a module */
	char **expected;     /* n_expected names; owned by readiness.c */
	uint32_t n_expected;
	bool is_leaving;             /* it reports not ready, but still serves */
	bool is_closing;             /* it is leaving, and loads no more modules */
	bool leaves_calls_uncounted; /* for measuring the cost of counting */
	struct msd_call_log call_log, slow_log;
	/** A module has room for waiting arguments. */
	void (*on_room)(struct msd_module_registry *registry);
	uint64_t last_serial;        /* last serial given to a module */
	struct msd_list directs;     /* msd_direct.all_link: all direct channels */
	uint64_t n_direct_calls;     /* calls on direct channels (direct.h) */
	struct msd_spin_count spun;  /* total of all workers, for these calls */
	uint64_t no_direct_until_ms; /* no direct channels before this time */
	/** A module or a process is gone, or a module has given its name to another. */
	void (*on_gone)(struct msd_module_registry *registry);
};

#endif
