#ifndef MSD_SUPERVISOR_FETCH_TERMS_H
#define MSD_SUPERVISOR_FETCH_TERMS_H
/* On which terms a module is fetched: what its section of the configuration says of it,
 * in place of what is said for all. */
#include "store/trust.h"

struct msd_fetch_terms {
	bool has_policy;
	enum msd_policy policy;
};

#endif
