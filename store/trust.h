#ifndef MSD_STORE_TRUST_H
#define MSD_STORE_TRUST_H
/*
 * Whose word a module is taken on. A public key is minisign's: 32 bytes of Ed25519 and
 * the 8 by which a signature says whose it is. Nothing here is secret, and nothing here
 * checks a signature: that is store/manifest/signature.h.
 */
#include "proto/bytes.h"
#include "proto/diag.h"

#define MSD_KEY_ID_BYTES 8u
#define MSD_KEY_ID_TEXT (2 * MSD_KEY_ID_BYTES + 1) /* with its NUL */
#define MSD_PUBLIC_KEY_BYTES 32u
#define MSD_TRUST_KEYS 16u        /* of one daemon */
#define MSD_PUBLIC_KEY_FILE 1024u /* bytes of a key's file */

/* X(enumerator, word) */
#define MSD_POLICY_MAP(X)                                                              \
	X(UNSIGNED, "unsigned") /* whatever the source gives */                        \
	X(DIGEST, "digest")     /* what hashes to what was said before */              \
	X(SIGNED, "signed")     /* what a trusted key has signed */

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
	uint32_t least; /* so many of the keys must have signed; 0 counts as 1 */
	struct msd_public_key keys[MSD_TRUST_KEYS];
};

/** "signed", ... Static. */
const char *msd_policy_word(enum msd_policy policy);
/** False, *ret unchanged, when it is no policy's word. */
MSD_MUST_CHECK bool msd_policy_parse(struct msd_span word, enum msd_policy *ret);
/** As minisign writes it: 16 upper-case digits, the most significant first. */
void msd_key_id_format(const struct msd_key_id *id, char ret[static MSD_KEY_ID_TEXT]);
bool msd_key_id_equal(const struct msd_key_id *a, const struct msd_key_id *b);
/** Read the text of a public key's file: the line of base64, with or without the
 * comment in front. MSD_BAD_REQUEST, saying what is wrong with it. */
MSD_MUST_CHECK msd_err msd_public_key_parse(struct msd_span text,
					    struct msd_public_key *ret,
					    struct msd_diag *d);
/** How many keys of @t the text of signatures names, unchecked: those that it was
 * checked by once, and that are still trusted. */
uint32_t msd_trust_count_named(const struct msd_trust *t, struct msd_span signatures);
/** Add @key; one that is there already is there once. MSD_TOO_LARGE. */
MSD_MUST_CHECK msd_err msd_trust_add(struct msd_trust *t,
				     const struct msd_public_key *key,
				     struct msd_diag *d);

#endif
