#ifndef MSD_SUPERVISOR_REPOSITORY_H
#define MSD_SUPERVISOR_REPOSITORY_H
/*
 * The repository: the editions of the store, and the sources of the configuration.
 * Modules and methods use it only through these operations
 * (daemon/supervisor/repository/repository.h).
 */
#include <stdbool.h>

#include "daemon/supervisor/module/life/canary.h"

struct msd_buf;
struct msd_fetch_options;
struct msd_keeper;
struct msd_load;
struct msd_module;
struct msd_module_registry;
struct msd_repository;
struct msd_req;
struct msd_source_pollers;

struct msd_repository_ops {
	/**
	 * The bytes of the candidate @m are complete: record it, then call
	 * msd_module_kept(), also if it cannot be recorded.
	 */
	void (*write)(struct msd_repository *r, struct msd_module *m);
	/**
	 * The load of a recorded candidate has ended: READY, or not. If READY, call
	 * msd_module_answer_waiters() afterwards.
	 */
	void (*tried)(struct msd_repository *r, struct msd_module *m, bool is_good);
	/**
	 * The canary period of a module that replaced another has ended: any verdict
	 * but GOES_ON. The reaction follows on a later iteration.
	 */
	void (*watched)(struct msd_repository *r, struct msd_module *m,
			enum msd_canary_verdict verdict);
	/**
	 * Find a copy of the bytes of @m, which is ASLEEP, and answer with
	 * msd_module_brought(), or with msd_module_looked() if they are
	 * not wanted now. False: it will not answer.
	 */
	bool (*find)(struct msd_repository *r, struct msd_module *m, bool is_wanted);
	/**
	 * Load the current or the previous edition of the module @from as @name, with
	 * the options @how. NULL for both: roll @name back to its previous edition.
	 * Takes @req; the reply is sent when the module is READY or failed.
	 */
	void (*load)(struct msd_repository *r, const char *name, const char *from,
		     bool is_previous, const struct msd_load *how, struct msd_req *req);
	/**
	 * Return the fetch options of the module @name, valid during this loop
	 * iteration. NULL: the defaults.
	 */
	const struct msd_fetch_options *(*terms)(struct msd_repository *r,
						 const char *name);
	/** Append the known facts about the source of the module @name, or nil. */
	void (*put_source)(struct msd_repository *r, const char *name,
			   struct msd_buf *ret);
};

struct msd_repository {
	const struct msd_repository_ops *ops;
	struct msd_module_registry *registry;
	struct msd_keeper *keeper;          /* of the store; open if a store exists */
	struct msd_source_pollers *pollers; /* modules with a source */
};

#endif
