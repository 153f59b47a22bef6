#ifndef MSD_SUPERVISOR_MODULE_H
#define MSD_SUPERVISOR_MODULE_H
/*
 * A module by name: its artifact (one sealed memfd, kept for restarts), its queue, and
 * its workers, as many as it was loaded with. READY means that all of them have opened
 * the artifact once and at least one has it open now.
 * Its states are life_step.h's.
 *
 * A replacement is a second msd_module, hidden in `successor` until it is READY; then
 * it takes the name and the old one drains.
 */
#include "daemon/supervisor/module/house.h"
#include "daemon/supervisor/module/lane.h"
#include "daemon/supervisor/module/life_step.h"
#include "daemon/supervisor/module/pace.h"
#include "daemon/supervisor/module/replica.h"
#include "proto/era_word.h"

#define MSD_LOG_BYTES (64u * 1024u) /* kept of a module's output */

struct msd_module {
	struct msd_list link; /* msd_house.modules */
	struct msd_house *house;
	char *name;
	char *file; /* label for people */
	struct msd_life life;
	int artifact_fd;
	uint64_t artifact_bytes;
	struct msd_device device; /* where it is to run; type 0: the worker decides */
	uint64_t graph_bytes, params_bytes; /* at the artifact's end; 0: none */
	enum msd_era_word era;
	bool tvm_inputs; /* an instance ignores inputs that the model lacks */
	struct msd_segpool in;
	struct msd_replica *replicas; /* n_replicas, at least 1 */
	uint32_t n_replicas;
	struct msd_list lanes;     /* msd_lane.link: without a home, taking turns */
	struct msd_list all_lanes; /* msd_lane.all_link */
	struct msd_list
		receiving; /* msd_req.link: their payload has a slot, is not whole */
	struct msd_list waiters;      /* msd_req.link: load and wait requests */
	struct msd_list unloaders;    /* msd_req.link */
	uint32_t n_queued;            /* requests in lanes */
	struct msd_pace pace;         /* of a module with several workers */
	bool has_pins;                /* its device holds the pages of `in`: no holes */
	struct msd_module *successor; /* loads under the same name */
	struct msd_module *predecessor; /* the one whose successor this is */
	struct msd_buf facts;           /* worker.open's result, msgpack */
	uint32_t n_functions;
	char *error; /* why FAILED or QUARANTINED */
	msd_err error_code;
	struct msd_deadline drain; /* how long DRAINING may last */
	char *log; /* ring of MSD_LOG_BYTES; NULL until something came */
	size_t log_at, log_n;
	uint64_t n_calls, n_errors, exec_ns;
};

/* What a module is loaded from. */
struct msd_module_source {
	const char *file;         /* label for people */
	int artifact_fd;          /* sealed memfd */
	bool replace;             /* an existing module stays until this one is READY */
	struct msd_device device; /* type 0: what its code is for */
	/* The artifact is a library and, behind it, its graph and parameters. */
	uint64_t graph_bytes, params_bytes;
	uint32_t workers; /* worker processes; 0 means 1 */
	enum msd_era_word era;
	bool tvm_inputs;
};

/** Module by name, never a hidden successor. MSD_NOT_FOUND. */
MSD_MUST_CHECK msd_err msd_module_require(struct msd_house *house, struct msd_span name,
					  struct msd_module **ret, struct msd_diag *d);
/**
 * A new module in LOADING, its first worker started. Takes the source's artifact_fd in
 * every case. A module that FAILED gives its name up. Errors: MSD_EXISTS, MSD_DRAINING,
 * MSD_BUSY, MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_module_load(struct msd_house *house, struct msd_span name,
				       const struct msd_module_source *source,
				       struct msd_module **ret, struct msd_diag *d);
/** A module that is FAILED from the start: its file could not be read. @d says why. */
MSD_MUST_CHECK msd_err msd_module_add_failed(struct msd_house *house,
					     struct msd_span name, const char *file,
					     struct msd_diag *d);
/** Refuse new calls, finish those that are there (at most limits.drain_ms), end the
 * workers, then forget the module. */
void msd_module_unload(struct msd_module *m);
/** End all its processes now; @reason (static text) is for error texts. */
void msd_module_kill(struct msd_module *m, const char *reason);
/** Queue a request that a worker answers. Takes @r. Answers it at once when it cannot
 * be. */
void msd_module_submit(struct msd_module *m, struct msd_req *r);
/** Answer @r when the module is READY or has FAILED. Takes @r. */
void msd_module_wait(struct msd_module *m, struct msd_req *r);
/** DRAINING and QUARANTINED: end the workers that nobody waits for. */
void msd_module_check_idle(struct msd_module *m);
/** Requests that are queued or sent. */
uint32_t msd_module_in_flight(const struct msd_module *m);
/** Keep what a worker wrote to standard output and error. */
void msd_module_log(struct msd_module *m, const char *p, size_t n);
/** Write the kept log, oldest first. */
void msd_module_log_read(const struct msd_module *m, struct msd_buf *out);

#endif
