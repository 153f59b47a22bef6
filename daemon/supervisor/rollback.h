#ifndef MSD_SUPERVISOR_ROLLBACK_H
#define MSD_SUPERVISOR_ROLLBACK_H
/* An edition that the store has, tried again in place of what serves. */
#include "daemon/supervisor/keep/keeper.h"
#include "daemon/supervisor/module/house.h"
#include "store/record.h"

struct msd_load;
struct msd_preload;
struct msd_req;

/** Somebody wants the previous edition of the module @name back; @r, which is taken, is
 * answered when that is READY, or why it is not: MSD_NOT_FOUND when the store has none.
 * @options instead of those that it was kept with; NULL: with those. */
void msd_rollback(struct msd_keeper *keeper, struct msd_house *house, const char *name,
		  const struct msd_load *options, struct msd_req *r);
/** What serves has failed while it was watched, as @why says: it is bad, and the
 * previous edition is current, and takes its place when it is READY. */
void msd_edition_return(struct msd_keeper *keeper, struct msd_house *house,
			const char *name, const char *why,
			const struct msd_load *options);
/* Which edition. */
struct msd_edition_of {
	const char *module; /* whose it is */
	enum msd_ref ref;
};

/** Try the edition @of as the module @name, which it need not be of. @r is answered as
 * by msd_rollback(); NULL: nobody asked. */
void msd_edition_again(struct msd_keeper *keeper, struct msd_house *house,
		       const char *name, struct msd_edition_of of,
		       const struct msd_load *options, struct msd_req *r);
/** Try what serves as @name again, but for the keys of @more, whose text is taken: it
 * is kept with both. @r is answered as by msd_rollback(). */
void msd_edition_said(struct msd_keeper *keeper, struct msd_house *house,
		      const char *name, struct msd_preload *more, struct msd_req *r);

#endif
