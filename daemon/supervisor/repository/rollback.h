#ifndef MSD_SUPERVISOR_ROLLBACK_H
#define MSD_SUPERVISOR_ROLLBACK_H
/* Load an edition of the store in place of the module that serves. */
#include "daemon/supervisor/module/life/repository.h"

struct msd_preload;

/**
 * load() of the repository: @r is taken; it is answered when the edition is READY or
 * has failed: MSD_NOT_FOUND if the store has no such edition; NULL: no client waits.
 * @options replace the kept options; NULL: use the kept options, in a rollback those of
 * the module's section.
 */
void msd_edition_again(struct msd_repository *repository, const char *name,
		       const char *from, bool is_previous,
		       const struct msd_load *options, struct msd_req *r);
/**
 * The current edition failed while it was watched, for the reason @why. Mark it as
 * bad and make the previous edition current; it replaces the module when it is READY.
 */
void msd_edition_return(struct msd_repository *repository, const char *name,
			const char *why);
/**
 * Load the current edition of @name again, with the keys of @more, whose text is
 * taken. The store keeps it with both. @r is answered as by msd_edition_again().
 */
void msd_edition_said(struct msd_repository *repository, const char *name,
		      struct msd_preload *more, struct msd_req *r);

#endif
