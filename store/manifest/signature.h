#ifndef MSD_STORE_SIGNATURE_H
#define MSD_STORE_SIGNATURE_H
/*
 * Signatures in minisign's format, over the exact bytes of a text: four lines each,
 * several one after the other.
 *
 *   untrusted comment: any text, not signed
 *   base64 of "ED" (the text is hashed first; "Ed": it is not), key id, signature
 *   trusted comment: any text
 *   base64 of a signature of the signature and the trusted comment
 */
#include "store/trust.h"

#define MSD_SIGNATURES 16u
#define MSD_SIGNATURE_BYTES (16u * 1024u) /* maximum size of all signatures as text */

struct msd_signers {
	uint32_t n;
	struct msd_key_id ids[MSD_TRUST_KEYS];
};

/**
 * Find the keys of @t that have signed @message. A signature by an untrusted key is
 * ignored; an invalid signature that names a trusted key is an error. Errors:
 * MSD_NOT_VERIFIED (naming the key; or fewer than t->least keys have signed), MSD_IO.
 */
MSD_MUST_CHECK msd_err msd_signature_check(struct msd_span message,
					   struct msd_span signatures,
					   const struct msd_trust *t,
					   struct msd_signers *ret, struct msd_diag *d);
/**
 * Append a signature of @message to @out, by the secret key in the file text @secret.
 * @comment becomes the trusted comment, without newlines. Errors: MSD_BAD_REQUEST
 * (not a minisign key), MSD_UNSUPPORTED (it needs a password), MSD_IO.
 */
MSD_MUST_CHECK msd_err msd_signature_make(struct msd_span message,
					  struct msd_span secret, const char *comment,
					  struct msd_buf *out, struct msd_diag *d);

#endif
