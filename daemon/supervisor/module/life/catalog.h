#ifndef MSD_SUPERVISOR_CATALOG_H
#define MSD_SUPERVISOR_CATALOG_H
/* Modules by name: msd_module_registry.modules, and their hidden successors. */
#include "daemon/supervisor/module/life/module.h"
#include "daemon/supervisor/module/life/registry.h"
#include "proto/words/run_options.h"

/* The source and the options of a module load. */
struct msd_load {
	const char *file; /* label for error texts and logs */
	enum msd_load_state
		begins;           /* FETCHING: msd_module_give() provides the source */
	struct msd_source source; /* fd -1: `bringing` makes it */
	struct msd_source_job *bringing;
	const char *owner;      /* outlives the module registry; NULL: no limit */
	uint64_t owner_max;     /* maximum modules of that owner; 0: unlimited */
	uint64_t owner_wait_ms; /* retry delay reported when that maximum is reached */
	bool is_stored;         /* it is read from the store, with its options */
	bool replace;           /* keep the existing module until this one is READY */
	struct msd_run_options run; /* sandbox UNSAID: the registry's default */
	struct msd_span tests; /* self_test_case.h, borrowed; empty: no self-tests */
	uint32_t warmup;  /* number of warm-up rounds before the round that counts */
	uint64_t section; /* configuration section with these options; 0: none */
};

/** Find a module by name, never a hidden successor. Errors: MSD_NOT_FOUND. */
MSD_MUST_CHECK msd_err msd_module_require(struct msd_module_registry *registry,
					  struct msd_span name, struct msd_module **ret,
					  struct msd_diag *d);
/**
 * Check that the limits leave room for @load under @name now. msd_module_load() makes
 * the same check; call this one before a download. Errors: MSD_BUSY, MSD_TOO_LARGE.
 */
MSD_MUST_CHECK msd_err msd_module_check_room(struct msd_module_registry *registry,
					     struct msd_span name,
					     const struct msd_load *load,
					     struct msd_diag *d);
/**
 * Create a module in LOADING. Its first worker starts when the source exists; if that
 * takes longer than the load timeout, the module is FAILED. Takes load->source or
 * load->bringing in every case. An existing FAILED module gives up the name. Errors:
 * MSD_EXISTS, MSD_DRAINING, MSD_BUSY, MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_module_load(struct msd_module_registry *registry,
				       struct msd_span name,
				       const struct msd_load *load,
				       struct msd_module **ret, struct msd_diag *d);
/**
 * Set the self-tests of @m, which awaits its source, from @how->tests. Errors:
 * MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_module_prove(struct msd_module *m,
					const struct msd_load *how, struct msd_diag *d);
/**
 * Add a module that is FAILED from the start because its file could not be read. @d
 * holds the cause.
 */
MSD_MUST_CHECK msd_err msd_module_add_failed(struct msd_module_registry *registry,
					     struct msd_span name, const char *file,
					     struct msd_diag *d);
/**
 * Find the module with the load number @serial, also among hidden successors. NULL:
 * it is gone.
 */
struct msd_module *msd_module_by_serial(struct msd_module_registry *registry,
					uint64_t serial);

#endif
