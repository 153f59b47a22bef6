#ifndef MSD_WIRE_SHARED_H
#define MSD_WIRE_SHARED_H
/* Constant bytes that several frames borrow. The last user frees them. */
#include <stddef.h>
#include <stdint.h>

struct msd_shared {
	uint32_t refs;
	size_t n;
	uint8_t bytes[];
};

/**
 * Allocate @n bytes, which the caller fills before sharing, with one reference for
 * the caller. NULL if memory is short.
 */
struct msd_shared *msd_shared_new(size_t n);
struct msd_shared *msd_shared_ref(struct msd_shared *s);
void msd_shared_unref(struct msd_shared *s); /* NULL is allowed */

#endif
