#ifndef MSD_WIRE_SHARED_H
#define MSD_WIRE_SHARED_H
/* Bytes that do not change and that several frames borrow: freed with the last user. */
#include <stddef.h>
#include <stdint.h>

struct msd_shared {
	uint32_t refs;
	size_t n;
	uint8_t bytes[];
};

/** Room for @n bytes, to be filled before it is shared, with one reference for the
 * caller; NULL when memory is short. */
struct msd_shared *msd_shared_new(size_t n);
struct msd_shared *msd_shared_ref(struct msd_shared *s);
void msd_shared_unref(struct msd_shared *s); /* NULL is fine */

#endif
