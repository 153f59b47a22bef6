#ifndef MSD_STORE_DIGEST_H
#define MSD_STORE_DIGEST_H
/* SHA-256 digests as names of content. The text form is 64 lower-case hexadecimal
 * digits; the parser also accepts the prefix "sha256:". */
#include <nettle/sha2.h>

#include "proto/base/bytes.h"

#define MSD_DIGEST_BYTES ((size_t)SHA256_DIGEST_SIZE)
#define MSD_DIGEST_TEXT (2 * MSD_DIGEST_BYTES + 1) /* includes the NUL */

struct msd_digest {
	uint8_t b[MSD_DIGEST_BYTES];
};

/** False, and *ret is unchanged, if @text is invalid; upper-case digits are invalid. */
MSD_MUST_CHECK bool msd_digest_parse(struct msd_span text, struct msd_digest *ret);
/** Write the 64 digits and a NUL. */
void msd_digest_format(const struct msd_digest *digest,
		       char ret[static MSD_DIGEST_TEXT]);
bool msd_digest_equal(const struct msd_digest *a, const struct msd_digest *b);
/** Hash bytes in memory. */
void msd_digest_of(struct msd_span bytes, struct msd_digest *ret);

#endif
