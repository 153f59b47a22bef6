#ifndef MSD_SUPERVISOR_SETBACK_H
#define MSD_SUPERVISOR_SETBACK_H
/* The last edition that was to take a module's place, or had taken it, and failed: what
 * is told of it while the module serves on. */
#include <stdbool.h>

#include "store/digest.h"

struct msd_setback {
	char *why; /* for people, owned; NULL: there is none */
	bool has_digest;
	struct msd_digest digest;
	uint64_t section; /* of the configuration, that it was loaded by; 0: none */
};

/** The edition of @digest failed, as @why says; NULL: its bytes never came. */
void msd_setback_note(struct msd_setback *s, const struct msd_digest *digest,
		      const char *why);
void msd_setback_finish(struct msd_setback *s);

#endif
