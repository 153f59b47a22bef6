#ifndef MSD_STORE_TRUST_H
#define MSD_STORE_TRUST_H
/*
 * Trust policy and keys. A public key is in minisign's format: 32 bytes of Ed25519,
 * and an id of 8 bytes, which signatures contain. Nothing here is secret, and no
 * signature is checked here: see store/manifest/signature.h.
 */
#include "proto/base/bytes.h"
#include "proto/base/diag.h"

#define MSD_KEY_ID_BYTES 8u
#define MSD_KEY_ID_TEXT (2 * MSD_KEY_ID_BYTES + 1) /* includes the NUL */
#define MSD_PUBLIC_KEY_BYTES 32u
#define MSD_TRUST_KEYS 16u        /* per daemon */
#define MSD_PUBLIC_KEY_FILE 1024u /* maximum size of a key file */

/* X(enumerator, word) */
#define MSD_POLICY_MAP(X)                                                              \
	X(UNSIGNED, "unsigned") /* accepts every module */                             \
	X(DIGEST, "digest")     /* requires the requested digest */                    \
	X(SIGNED, "signed")     /* requires a signature by a trusted key */

enum msd_policy {
#define MSD_POLICY_ENUM(e, word) MSD_POLICY_##e,
	MSD_POLICY_MAP(MSD_POLICY_ENUM)
#undef MSD_POLICY_ENUM
		MSD_POLICY_COUNT
};

struct msd_key_id {
	uint8_t b[MSD_KEY_ID_BYTES]; /* as in the file: little-endian */
};

struct msd_public_key {
	struct msd_key_id id;
	uint8_t b[MSD_PUBLIC_KEY_BYTES];
};

struct msd_trust {
	enum msd_policy policy;
	uint32_t n_keys;
	uint32_t
		least; /* minimum number of keys that must have signed; 0 counts as 1 */
	struct msd_public_key keys[MSD_TRUST_KEYS];
};

/** "signed", ... Static. */
const char *msd_policy_word(enum msd_policy policy);
/** False, and *ret is unchanged, if @word is not a policy. */
MSD_MUST_CHECK bool msd_policy_parse(struct msd_span word, enum msd_policy *ret);
/** minisign's format: 16 upper-case digits, most significant first. */
void msd_key_id_format(const struct msd_key_id *id, char ret[static MSD_KEY_ID_TEXT]);
bool msd_key_id_equal(const struct msd_key_id *a, const struct msd_key_id *b);
/**
 * Parse the text of a public key file: the base64 line, with or without the comment
 * before it. MSD_BAD_REQUEST, with the fault.
 */
MSD_MUST_CHECK msd_err msd_public_key_parse(struct msd_span text,
					    struct msd_public_key *ret,
					    struct msd_diag *d);
/**
 * Number of keys of @t that the signature text names, unchecked. The text was
 * verified earlier, so these are its signers that are still trusted.
 */
uint32_t msd_trust_count_named(const struct msd_trust *t, struct msd_span signatures);
/** Add @key; a duplicate has no effect. MSD_TOO_LARGE. */
MSD_MUST_CHECK msd_err msd_trust_add(struct msd_trust *t,
				     const struct msd_public_key *key,
				     struct msd_diag *d);

#endif
