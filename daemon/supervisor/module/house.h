#ifndef MSD_SUPERVISOR_HOUSE_H
#define MSD_SUPERVISOR_HOUSE_H
/*
 * What all modules live on: given to them by the server, which embeds it. They know
 * nothing else of the server, and nothing of the clients' side.
 */
#include <uv.h>

#include "daemon/supervisor/module/probation.h"
#include "daemon/supervisor/module/recorder.h"
#include "daemon/supervisor/module/slowlog.h"
#include "daemon/supervisor/module/warm_shelf.h"
#include "daemon/wire/list.h"
#include "proto/sandbox_word.h"
#include "proto/spin.h"

struct msd_budget;
struct msd_child_user;
struct msd_house;
struct msd_module;

/* What modules may do beside computing; lists of paths, borrowed, ended by NULL. */
struct msd_house_sandbox {
	enum msd_sandbox_word word; /* of those whose section says none */
	const char *const *reads, *const *writes;
};

/* Workers that outlive the daemon: warm.h. */
struct msd_house_warm {
	bool is_on;                  /* those that are started may be kept */
	struct msd_digest worker;    /* of the program that they run */
	struct msd_warm_shelf shelf; /* whom an earlier daemon left */
	struct msd_list artifacts;   /* and with what: warm_artifact.h's */
	/** The service manager gets @n descriptors, which stay the caller's, under
	 * @name. False: it did not. */
	bool (*keep)(struct msd_house *house, const char *name, const int *fds,
		     unsigned n);
	/** It gives those of that name up. */
	void (*give_up)(struct msd_house *house, const char *name);
};

struct msd_house {
	uv_loop_t *loop;
	struct msd_reaper *reaper;  /* of the workers */
	struct msd_cgroups *groups; /* of the workers, where they have any */
	struct msd_wire *wire;
	struct msd_deadlines *deadlines;
	const struct msd_limits *limits;
	struct msd_budget *budget;  /* tensor bytes of all requests */
	struct msd_unpack *unpack;  /* of what is read right now */
	char *worker_path;          /* borrowed */
	uint32_t threads;           /* of each worker's pool; 0: the worker decides */
	const char *const *plugins; /* paths, for the workers; ended by NULL */
	struct msd_house_sandbox sandbox;
	const struct msd_child_user *worker_user; /* NULL: the daemon's own */
	struct msd_house_warm warm;
	struct msd_list modules; /* msd_module.link, by name */
	uint32_t n_modules;      /* hidden successors included */
	uint64_t generation; /* another one since a name got another module, or none */
	char **expected;     /* n_expected names: expected.h's */
	uint32_t n_expected;
	bool is_leaving; /* it says that it is not ready, and serves on */
	bool is_closing; /* it is leaving, and no module is loaded any more */
	bool leaves_calls_uncounted; /* to measure what counting them costs */
	struct msd_recorder recorder;
	struct msd_slowlog slowlog;
	/** A module has room for arguments that wait. */
	void (*on_room)(struct msd_house *house);
	uint64_t last_serial;    /* of the modules so far */
	uint64_t n_direct_calls; /* direct.h: that went by channels of clients' own */
	struct msd_spin_count spun;  /* so far, for these: by all modules' workers */
	uint64_t no_direct_until_ms; /* none of these is given */
	/** The bytes of a candidate are there: msd_module_kept() when it is written
	 * down, or cannot be. */
	void (*on_candidate)(struct msd_house *house, struct msd_module *m);
	/** The load of a candidate has ended: READY, or not. When it is, who waits for
	 * it is answered by msd_module_answer_waiters() afterwards. */
	void (*on_tried)(struct msd_house *house, struct msd_module *m, bool is_good);
	/** How the watch over a module that has replaced another ended: any verdict but
	 * GOES_ON. What is done about it is done on a later turn. */
	void (*on_watched)(struct msd_house *house, struct msd_module *m,
			   enum msd_probation_verdict verdict);
	/** It is ASLEEP: answered by msd_sleep_on_looked(), unless it is false. */
	bool (*on_asleep)(struct msd_house *house, struct msd_module *m);
	/** It is called, and has given up its bytes: msd_slumber_on_brought(). */
	bool (*on_called)(struct msd_house *house, struct msd_module *m);
	/** A module or a process is gone, or a module has given its name to another. */
	void (*on_gone)(struct msd_house *house);
};

#endif
