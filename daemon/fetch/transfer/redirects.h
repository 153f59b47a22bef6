#ifndef MSD_FETCH_REDIRECTS_H
#define MSD_FETCH_REDIRECTS_H
/* Follow redirects from the requested URL, hop by hop. */
#include "daemon/fetch/uri.h"

#define MSD_REDIRECTS_REDIRECTS 5u /* per attempt */

struct msd_redirects {
	bool insecure;     /* plain http to other machines is allowed */
	char *url;         /* owned; current URL */
	struct msd_uri at; /* current URL, parsed */
	/* Private. */
	char *origin, *home; /* owned; the first URL, and its host */
	unsigned n_redirects;
};

/**
 * Start at @url; @insecure allows plain http. Finish with msd_redirects_finish().
 * Errors: those of msd_uri_read(), MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_redirects_begin(struct msd_redirects *w, const char *url,
					   bool insecure, struct msd_diag *d);
/** Return to the first URL: a redirect target may be valid only once. */
MSD_MUST_CHECK msd_err msd_redirects_restart(struct msd_redirects *w,
					     struct msd_diag *d);
/**
 * Follow a redirect to @location, an absolute URL; NULL if the response has none.
 * Errors: MSD_IO (too many redirects, or no location), MSD_REFUSED (not allowed),
 * those of msd_uri_read().
 */
MSD_MUST_CHECK msd_err msd_redirects_follow(struct msd_redirects *w,
					    const char *location, struct msd_diag *d);
/** True if still at the first host. Credentials are only for that host. */
bool msd_redirects_is_home(const struct msd_redirects *w);
/** True if no redirect was followed. */
bool msd_redirects_is_begun(const struct msd_redirects *w);
/**
 * The target of @location in a response from @from, owned by the caller; resolved as
 * by msd_uri_resolve() and checked as a redirect. @insecure allows plain http to
 * other machines. Errors: those of msd_uri_resolve(), MSD_REFUSED.
 */
MSD_MUST_CHECK msd_err msd_redirects_lead(const char *from, const char *location,
					  bool insecure, char **ret,
					  struct msd_diag *d);
/** May be called more than once. */
void msd_redirects_finish(struct msd_redirects *w);

#endif
