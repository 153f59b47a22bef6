#ifndef MSD_FETCH_WAY_H
#define MSD_FETCH_WAY_H
/* From the URL that was asked for to where its answers send, hop by hop. */
#include "daemon/fetch/uri.h"

#define MSD_WAY_REDIRECTS 5u /* of one attempt */

struct msd_way {
	bool insecure;     /* plain http may lead to other machines */
	char *url;         /* owned; where it is now */
	struct msd_uri at; /* the same */
	/* Private. */
	char *origin, *home; /* owned; where it begins, and that one's host */
	unsigned n_redirects;
};

/** Stand at @url, which may be plain as @insecure says; finish with msd_way_finish().
 * Errors: those of msd_uri_read(), MSD_NOMEM. */
MSD_MUST_CHECK msd_err msd_way_begin(struct msd_way *w, const char *url, bool insecure,
				     struct msd_diag *d);
/** Go back to the beginning: where a redirect leads may be good for once only. */
MSD_MUST_CHECK msd_err msd_way_restart(struct msd_way *w, struct msd_diag *d);
/** Go on to @location, a whole URL; NULL: the answer names none. Errors: MSD_IO (too
 * many, or nowhere), MSD_REFUSED (not allowed), those of msd_uri_read(). */
MSD_MUST_CHECK msd_err msd_way_follow(struct msd_way *w, const char *location,
				      struct msd_diag *d);
/** Whether it still is at the host that it began with: what was meant for that one is
 * for no other. */
bool msd_way_is_home(const struct msd_way *w);
/** Whether it still is where it began. */
bool msd_way_is_begun(const struct msd_way *w);
/** Where @location leads, which an answer from @from gave, owned by the caller: as
 * msd_uri_resolve() has it, if a redirect may lead there, and plainly elsewhere as
 * @insecure says. Errors: those of msd_uri_resolve(), MSD_REFUSED. */
MSD_MUST_CHECK msd_err msd_way_lead(const char *from, const char *location,
				    bool insecure, char **ret, struct msd_diag *d);
/** Legal more than once. */
void msd_way_finish(struct msd_way *w);

#endif
