#ifndef MSD_STORE_SIGNATURE_H
#define MSD_STORE_SIGNATURE_H
/*
 * Signatures as minisign writes them, over the exact bytes of a text: four lines each,
 * several one behind the other.
 *
 *   untrusted comment: whatever, which nothing vouches for
 *   base64 of "ED" (the text is hashed first; "Ed": it is not), key id, signature
 *   trusted comment: whatever
 *   base64 of a signature of the signature and the trusted comment
 */
#include "store/trust.h"

#define MSD_SIGNATURES 16u
#define MSD_SIGNATURE_BYTES (16u * 1024u) /* of all of them as text */

struct msd_signers {
	uint32_t n;
	struct msd_key_id ids[MSD_TRUST_KEYS];
};

/**
 * Which keys of @t have signed @message. A signature by a key that is not trusted
 * counts for nothing; one that claims to be by a trusted one and is not ends it.
 * Errors: MSD_NOT_VERIFIED (naming the key; or fewer than t->least have), MSD_IO.
 */
MSD_MUST_CHECK msd_err msd_signature_check(struct msd_span message,
					   struct msd_span signatures,
					   const struct msd_trust *t,
					   struct msd_signers *ret, struct msd_diag *d);
/**
 * Append a signature of @message to @out, by the secret key whose file's text is
 * @secret. @comment becomes the trusted comment; it has no line's end. Errors:
 * MSD_BAD_REQUEST (no minisign key), MSD_UNSUPPORTED (it is locked by a password),
 * MSD_IO.
 */
MSD_MUST_CHECK msd_err msd_signature_make(struct msd_span message,
					  struct msd_span secret, const char *comment,
					  struct msd_buf *out, struct msd_diag *d);

#endif
