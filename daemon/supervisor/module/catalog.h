#ifndef MSD_SUPERVISOR_CATALOG_H
#define MSD_SUPERVISOR_CATALOG_H
/* Modules by name: msd_house.modules, and the successors that they hide. */
#include "daemon/supervisor/module/house.h"
#include "daemon/supervisor/module/module.h"
#include "daemon/supervisor/module/spread.h"

/* What a module is loaded from, and how. */
struct msd_load {
	const char *file;         /* label for people */
	struct msd_source source; /* fd -1: `bringing` makes it */
	struct msd_source_job *bringing;
	const char *owner;        /* outlives the house; NULL: nobody is limited */
	uint64_t owner_max;       /* modules of that owner; 0: as many as it likes */
	uint64_t owner_wait_ms;   /* that who has them is told to wait */
	bool is_awaited;          /* neither: msd_module_give() brings it some time */
	bool replace;             /* an existing module stays until this one is READY */
	struct msd_spread spread; /* of none: what its code is for */
	uint32_t workers;         /* worker processes; 0: one for each device */
	enum msd_era_word era;
	enum msd_fill_word fill;
	struct msd_model_words words;
	enum msd_sandbox_word sandbox; /* UNSAID: the house's */
	bool is_candidate; /* of the store: it is written down before it is started */
	bool is_written;   /* of a candidate: it was, at an earlier start */
	struct msd_span tests;  /* trial_case.h, borrowed; no bytes: it is not tried */
	uint32_t warmup;        /* times that they are run before that counts */
	uint64_t keep_alive_ms; /* it sleeps when nobody calls it for so long; 0: never
				 */
	bool tvm_inputs;        /* an instance ignores inputs that the model lacks */
	uint64_t section; /* of the configuration, that says all this; 0: none does */
	struct msd_batching batching;
	struct msd_run_limit max_run;
};

/** Module by name, never a hidden successor. MSD_NOT_FOUND. */
MSD_MUST_CHECK msd_err msd_module_require(struct msd_house *house, struct msd_span name,
					  struct msd_module **ret, struct msd_diag *d);
/** Whether the limits leave room for @load under @name now, which msd_module_load()
 * asks, too: for who would bring it from afar first. MSD_BUSY, MSD_TOO_LARGE. */
MSD_MUST_CHECK msd_err msd_module_check_room(struct msd_house *house,
					     struct msd_span name,
					     const struct msd_load *load,
					     struct msd_diag *d);
/**
 * A new module in LOADING; its first worker is started as soon as the source is there,
 * within the time that a load may take, else it is FAILED. Takes load->source or
 * load->bringing in every case. A module that FAILED gives its name up. Errors:
 * MSD_EXISTS, MSD_DRAINING, MSD_BUSY, MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_module_load(struct msd_house *house, struct msd_span name,
				       const struct msd_load *load,
				       struct msd_module **ret, struct msd_diag *d);
/** @m, which is awaited, is tried as @how->tests say when it is given. MSD_NOMEM. */
MSD_MUST_CHECK msd_err msd_module_prove(struct msd_module *m,
					const struct msd_load *how, struct msd_diag *d);
/** A module that is FAILED from the start: its file could not be read. @d says why. */
MSD_MUST_CHECK msd_err msd_module_add_failed(struct msd_house *house,
					     struct msd_span name, const char *file,
					     struct msd_diag *d);
/** The module that was loaded as the @serial-th one, a hidden successor too; NULL: it
 * is gone. */
struct msd_module *msd_module_by_serial(struct msd_house *house, uint64_t serial);

#endif
