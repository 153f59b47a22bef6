#ifndef MSD_SUPERVISOR_FAILED_EDITION_H
#define MSD_SUPERVISOR_FAILED_EDITION_H
/* The last failed edition: one that was to replace a module, or had replaced it. Kept
 * for status output while the module serves. */
#include <stdbool.h>

#include "store/digest.h"

struct msd_failed_edition {
	char *why; /* error text, owned; NULL: none failed */
	bool has_digest;
	struct msd_digest digest;
	uint64_t section; /* configuration section that loaded it; 0: none */
};

/**
 * Note that the edition of @digest failed for @why; @digest is NULL if its bytes
 * never arrived.
 */
void msd_failed_edition_note(struct msd_failed_edition *s,
			     const struct msd_digest *digest, const char *why);
void msd_failed_edition_finish(struct msd_failed_edition *s);

#endif
