#ifndef MSD_STORE_DIGEST_H
#define MSD_STORE_DIGEST_H
/*
 * The name of bytes: their SHA-256. Written as 64 lower-case hexadecimal digits, in
 * front of which "sha256:" may stand where it is read.
 */
#include <nettle/sha2.h>

#include "proto/bytes.h"

#define MSD_DIGEST_BYTES ((size_t)SHA256_DIGEST_SIZE)
#define MSD_DIGEST_TEXT (2 * MSD_DIGEST_BYTES + 1) /* with its NUL */

struct msd_digest {
	uint8_t b[MSD_DIGEST_BYTES];
};

/** False, *ret unchanged, when @text is none; upper-case digits are none. */
MSD_MUST_CHECK bool msd_digest_parse(struct msd_span text, struct msd_digest *ret);
/** The 64 digits and a NUL. */
void msd_digest_format(const struct msd_digest *digest,
		       char ret[static MSD_DIGEST_TEXT]);
bool msd_digest_equal(const struct msd_digest *a, const struct msd_digest *b);
/** Of bytes in memory. */
void msd_digest_of(struct msd_span bytes, struct msd_digest *ret);

#endif
