#ifndef MSD_SUPERVISOR_TRUST_OPTION_H
#define MSD_SUPERVISOR_TRUST_OPTION_H
/* The options for the trust in pulled modules. */
#include "store/trust.h"

struct msd_trust_option {
	/* The policy is "signed" if there are keys and no policy was given. */
	struct msd_trust trust;
	const char *files[MSD_TRUST_KEYS]; /* paths of the keys, borrowed */
	uint32_t n;                        /* number of files */
	bool has_policy;
};

/** Add the file of a public key; its name is borrowed. Errors: MSD_BAD_REQUEST. */
MSD_MUST_CHECK msd_err msd_trust_option_add(struct msd_trust_option *t,
					    const char *file, struct msd_diag *d);
/** "signed", "digest" or "unsigned". Errors: MSD_BAD_REQUEST. */
MSD_MUST_CHECK msd_err msd_trust_option_policy(struct msd_trust_option *t,
					       const char *word, struct msd_diag *d);

#endif
