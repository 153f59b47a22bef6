#ifndef MSD_SUPERVISOR_ROLLBACK_H
#define MSD_SUPERVISOR_ROLLBACK_H
/* Load an edition of the store in place of the module that serves. */
#include "daemon/supervisor/keep/keeper.h"
#include "daemon/supervisor/module/life/registry.h"
#include "store/record.h"

struct msd_load;
struct msd_preload;
struct msd_req;

/**
 * Roll the module @name back to its previous edition. @r is taken; it is answered
 * when that edition is READY or has failed: MSD_NOT_FOUND if the store has no
 * previous edition. @options replaces the kept options; NULL: use the kept options.
 */
void msd_rollback(struct msd_keeper *keeper, struct msd_module_registry *registry,
		  const char *name, const struct msd_load *options, struct msd_req *r);
/**
 * The current edition failed while it was watched, for the reason @why. Mark it as
 * bad and make the previous edition current; it replaces the module when it is READY.
 */
void msd_edition_return(struct msd_keeper *keeper, struct msd_module_registry *registry,
			const char *name, const char *why,
			const struct msd_load *options);
/* Names an edition. */
struct msd_edition_of {
	const char *module; /* the module that it belongs to */
	enum msd_ref ref;
};

/**
 * Load the edition @of as the module @name; it may belong to another module. @r is
 * answered as by msd_rollback(); NULL: no client waits.
 */
void msd_edition_again(struct msd_keeper *keeper, struct msd_module_registry *registry,
		       const char *name, struct msd_edition_of of,
		       const struct msd_load *options, struct msd_req *r);
/**
 * Load the current edition of @name again, with the keys of @more, whose text is
 * taken. The store keeps it with both. @r is answered as by msd_rollback().
 */
void msd_edition_said(struct msd_keeper *keeper, struct msd_module_registry *registry,
		      const char *name, struct msd_preload *more, struct msd_req *r);

#endif
