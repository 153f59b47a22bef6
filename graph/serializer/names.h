#ifndef MSD_SERIALIZER_NAMES_H
#define MSD_SERIALIZER_NAMES_H
/* Objects by name, for formats that have no other identity. */
#include <stdbool.h>
#include <stddef.h>

#include "proto/base/err.h"

struct msd_names {
	struct msd_named {
		const char *name; /* borrowed; NULL: a free slot */
		void *thing;
	} * slots; /* a power of two, half of them free */
	size_t n_slots;
	size_t n;
};

/** NULL if absent. */
void *msd_names_find(const struct msd_names *names, const char *name);
/**
 * Add @thing under @name, which outlives this; it replaces what had the name. False:
 * memory is short.
 */
MSD_MUST_CHECK bool msd_names_add(struct msd_names *names, const char *name,
				  void *thing);
void msd_names_finish(struct msd_names *names);

#endif
