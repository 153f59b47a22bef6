#ifndef MSD_SUPERVISOR_SETBACK_H
#define MSD_SUPERVISOR_SETBACK_H
/* The last failed edition: one that was to replace a module, or had replaced it. Kept
 * for status output while the module serves. */
#include <stdbool.h>

#include "store/digest.h"

struct msd_setback {
	char *why; /* error text, owned; NULL: none failed */
	bool has_digest;
	struct msd_digest digest;
	uint64_t section; /* configuration section that loaded it; 0: none */
};

/**
 * Note that the edition of @digest failed for @why; @digest is NULL if its bytes
 * never arrived.
 */
void msd_setback_note(struct msd_setback *s, const struct msd_digest *digest,
		      const char *why);
void msd_setback_finish(struct msd_setback *s);

#endif
