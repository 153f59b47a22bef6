#ifndef MSD_SUPERVISOR_FETCH_TERMS_H
#define MSD_SUPERVISOR_FETCH_TERMS_H
/* On which terms a module is fetched: what is taken, and how its server is reached.
 * What its section of the configuration says comes before what is said for all. */
#include "proto/bytes.h"
#include "store/trust.h"

#define MSD_PULL_FROM_MAX 32u

/* Prefixes of URLs. */
struct msd_pull_from {
	uint32_t n;
	const char *each[MSD_PULL_FROM_MAX];
};

struct msd_fetch_terms {
	bool has_policy;
	enum msd_policy policy;
	/* Files, a URL and hosts as daemon/fetch/CHANNEL.md has them; NULL: not said.
	 */
	const char *auth, *ca, *proxy, *realm;
	bool has_insecure, insecure;
	/* What others than the operator may have fetched beside what is public; of all
	 * modules, never of one. */
	struct msd_pull_from pull_from;
};

/** A copy whose strings are its own: end it with msd_fetch_terms_finish(), also after a
 * failure. MSD_NOMEM. */
MSD_MUST_CHECK msd_err msd_fetch_terms_copy(const struct msd_fetch_terms *from,
					    struct msd_fetch_terms *ret,
					    struct msd_diag *d);
/** Of a copy. */
void msd_fetch_terms_finish(struct msd_fetch_terms *t);
#define MSD_FETCH_TERMS_KEYS 5u
/** Append the pair of a fetch.get that an asker who is not the operator is bounded by.
 */
void msd_fetch_terms_put_bound(const struct msd_fetch_terms *all, struct msd_buf *ret);
/** Append MSD_FETCH_TERMS_KEYS pairs of a fetch.get: what @own says, which may be NULL,
 * and for the rest what @all says; "" is what nobody says. */
void msd_fetch_terms_put(const struct msd_fetch_terms *own,
			 const struct msd_fetch_terms *all, struct msd_buf *ret);

#endif
