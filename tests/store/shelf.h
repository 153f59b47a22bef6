#ifndef MSD_TESTS_SHELF_H
#define MSD_TESTS_SHELF_H
/* A store in a folder of its own, and shortcuts to fill it. They abort on failure, but
 * for those that return an error. */
#include "store/digest.h"
#include "store/store.h"

struct msd_edition;

struct shelf {
	char path[64];
	struct msd_store store;
};

/** A new folder with an open store in it; in memory where the machine has such. */
void shelf_init(struct shelf *s);
/** Close and remove all. */
void shelf_finish(struct shelf *s);
/** Close the store and open it again. */
msd_err shelf_reopen(struct shelf *s);
/** @n bytes that only @seed decides; free with free(). */
uint8_t *shelf_bytes(unsigned seed, size_t n);
/** Store @n bytes of @seed; *ret is their digest. */
msd_err shelf_put(struct shelf *s, unsigned seed, size_t n, struct msd_digest *ret,
		  struct msd_diag *d);
/** Whether the store gives all bytes of @seed back. */
bool shelf_has(struct shelf *s, unsigned seed, size_t n);
/** An edition of version @version whose one file has @n bytes of @seed. */
struct msd_edition *shelf_edition(uint64_t version, unsigned seed, size_t n);
/** Change one byte of the blob with @n bytes of @seed on the disk. */
void shelf_damage(struct shelf *s, unsigned seed, size_t n);

#endif
