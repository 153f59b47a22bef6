#ifndef MSD_SUPERVISOR_TRUST_OPTION_H
#define MSD_SUPERVISOR_TRUST_OPTION_H
/* Whose word pulled modules are taken on, as options say it. */
#include "store/trust.h"

struct msd_trust_option {
	/* The policy is "signed" where keys are there and none is said. */
	struct msd_trust trust;
	const char *files[MSD_TRUST_KEYS]; /* of the keys, borrowed */
	uint32_t n;                        /* of them */
	bool has_policy;
};

/** One public key's file more, whose name is borrowed. MSD_BAD_REQUEST. */
MSD_MUST_CHECK msd_err msd_trust_option_add(struct msd_trust_option *t,
					    const char *file, struct msd_diag *d);
/** "signed", "digest" or "unsigned". MSD_BAD_REQUEST. */
MSD_MUST_CHECK msd_err msd_trust_option_policy(struct msd_trust_option *t,
					       const char *word, struct msd_diag *d);

#endif
