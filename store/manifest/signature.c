/*
 * Happy path: the four lines of each signature are parsed, its key is looked up among
 * the trusted ones, and both of its signatures are checked. Failures: the error names
 * the key. Only the canonical base64 encoding is accepted, so every changed byte is
 * detected.
 */
#include "store/manifest/signature.h"

#include <nettle/base64.h>
#include <sodium.h>
#include <string.h>

#define UNTRUSTED "untrusted comment: "
#define TRUSTED "trusted comment: "
#define HASHED "ED"
#define PLAIN "Ed"
#define COMMENT_BYTES 4096u

_Static_assert(MSD_PUBLIC_KEY_BYTES == crypto_sign_PUBLICKEYBYTES, "Ed25519");

/* In the order of the file. */
struct named_signature {
	char algorithm[2];
	struct msd_key_id id;
	uint8_t b[crypto_sign_BYTES];
};
_Static_assert(sizeof(struct named_signature) == 74, "no padding");

/* From a file without a password: "kdf" is zero. */
struct secret_key {
	char algorithm[2], kdf[2], checksum_algorithm[2];
	uint8_t salt[32], ops_limit[8], memory_limit[8];
	struct msd_key_id id;
	uint8_t b[crypto_sign_SECRETKEYBYTES];
	uint8_t checksum[32];
};
_Static_assert(sizeof(struct secret_key) == 158, "no padding");

static msd_err not_verified(struct msd_diag *d, const char *why)
{
	return msd_diag_set(d, MSD_NOT_VERIFIED, "signature: %s", why);
}

/* Cut the next line, without its required newline; false if there is none. */
static bool cut_line(struct msd_span *rest, struct msd_span *ret)
{
	const uint8_t *end = rest->n > 0 ? memchr(rest->p, '\n', rest->n) : NULL;

	if (end == NULL)
		return false;
	*ret = (struct msd_span){rest->p, (size_t)(end - rest->p)};
	rest->n -= ret->n + 1;
	rest->p = end + 1;
	return true;
}

static bool cut_word(struct msd_span *line, const char *word)
{
	const size_t n = strlen(word);

	if (line->n < n || memcmp(line->p, word, n) != 0)
		return false;
	line->p += n;
	line->n -= n;
	return true;
}

static bool decode(struct msd_span line, void *ret, size_t n)
{
	struct base64_decode_ctx ctx;
	uint8_t bytes[BASE64_DECODE_LENGTH(256)];
	char again[BASE64_ENCODE_RAW_LENGTH(sizeof(bytes))];
	size_t got = sizeof(bytes);

	base64_decode_init(&ctx);
	if (line.n > 256 || line.n != BASE64_ENCODE_RAW_LENGTH(n) ||
	    base64_decode_update(&ctx, &got, bytes, line.n, (const char *)line.p) !=
		    1 ||
	    base64_decode_final(&ctx) != 1 || got != n)
		return false;
	base64_encode_raw(again, n, bytes);
	memcpy(ret, bytes, n);
	sodium_memzero(bytes, sizeof(bytes));
	const bool is_same = memcmp(again, line.p, line.n) == 0;
	sodium_memzero(again, sizeof(again));
	return is_same;
}

/* The four lines of one signature. */
struct lines {
	struct named_signature signature;
	struct msd_span comment; /* the trusted comment */
	uint8_t global[crypto_sign_BYTES];
};

static bool cut_signature(struct msd_span *rest, struct lines *ret)
{
	struct msd_span line;

	if (!cut_line(rest, &line) || !cut_word(&line, UNTRUSTED))
		return false;
	if (!cut_line(rest, &line) ||
	    !decode(line, &ret->signature, sizeof(ret->signature)))
		return false;
	if (!cut_line(rest, &line) || !cut_word(&line, TRUSTED) ||
	    line.n > COMMENT_BYTES)
		return false;
	ret->comment = line;
	return cut_line(rest, &line) && decode(line, ret->global, sizeof(ret->global));
}

static void hash_of(struct msd_span message,
		    uint8_t ret[static crypto_generichash_BYTES_MAX])
{
	(void)crypto_generichash(ret, crypto_generichash_BYTES_MAX, message.p,
				 message.n, NULL, 0);
}

static bool is_by(const struct lines *l, struct msd_span message,
		  const struct msd_public_key *key)
{
	uint8_t hash[crypto_generichash_BYTES_MAX];
	uint8_t both[crypto_sign_BYTES + COMMENT_BYTES];
	struct msd_span of = message;

	if (memcmp(l->signature.algorithm, HASHED, 2) == 0) {
		hash_of(message, hash);
		of = (struct msd_span){hash, sizeof(hash)};
	} else if (memcmp(l->signature.algorithm, PLAIN, 2) != 0) {
		return false;
	}
	memcpy(both, l->signature.b, crypto_sign_BYTES);
	memcpy(both + crypto_sign_BYTES, l->comment.p, l->comment.n);
	return crypto_sign_verify_detached(l->signature.b, of.p, of.n, key->b) == 0 &&
	       crypto_sign_verify_detached(
		       l->global, both, crypto_sign_BYTES + l->comment.n, key->b) == 0;
}

static void add_signer(struct msd_signers *s, const struct msd_key_id *id)
{
	for (uint32_t i = 0; i < s->n; i++) {
		if (msd_key_id_equal(&s->ids[i], id))
			return;
	}
	s->ids[s->n++] = *id;
}

/* State while signatures are checked. */
struct count {
	struct msd_signers signers;
	bool has_stranger; /* an untrusted key has also signed */
	struct msd_key_id stranger;
};

static msd_err check_one(const struct lines *l, struct msd_span message,
			 const struct msd_trust *t, struct count *c, struct msd_diag *d)
{
	char id[MSD_KEY_ID_TEXT];
	bool is_known = false;

	for (uint32_t i = 0; i < t->n_keys; i++) {
		if (!msd_key_id_equal(&t->keys[i].id, &l->signature.id))
			continue;
		is_known = true;
		if (is_by(l, message, &t->keys[i])) {
			add_signer(&c->signers, &l->signature.id);
			return MSD_OK;
		}
	}
	if (!is_known) {
		c->has_stranger = true;
		c->stranger = l->signature.id;
		return MSD_OK;
	}
	msd_key_id_format(&l->signature.id, id);
	return msd_diag_set(d, MSD_NOT_VERIFIED,
			    "signature: it is not by the key %s, as it says, or not of "
			    "these bytes",
			    id);
}

/* Count different keys; two signatures by one key count once. */
static msd_err check_count(const struct msd_trust *t, const struct count *c,
			   struct msd_diag *d)
{
	const uint32_t least = t->least > 0 ? t->least : 1;
	char id[MSD_KEY_ID_TEXT];

	if (c->signers.n >= least)
		return MSD_OK;
	if (c->signers.n == 0 && c->has_stranger) {
		msd_key_id_format(&c->stranger, id);
		return msd_diag_set(d, MSD_NOT_VERIFIED,
				    "signature: it is by the key %s, which is not "
				    "trusted",
				    id);
	}
	return msd_diag_set(
		d, MSD_NOT_VERIFIED,
		"signature: %u of the trusted keys have signed, and %u must",
		c->signers.n, least);
}

msd_err msd_signature_check(struct msd_span message, struct msd_span signatures,
			    const struct msd_trust *t, struct msd_signers *ret,
			    struct msd_diag *d)
{
	struct count c = {0};
	unsigned n = 0;
	msd_err err = MSD_OK;

	if (sodium_init() < 0)
		return msd_diag_set(d, MSD_IO, "libsodium cannot be prepared");
	if (signatures.n > MSD_SIGNATURE_BYTES)
		return not_verified(d, "more than 16384 bytes");
	while (err == MSD_OK && signatures.n > 0) {
		struct lines l;

		if (++n > MSD_SIGNATURES)
			return not_verified(d, "more than 16");
		if (!cut_signature(&signatures, &l))
			return not_verified(d, "expected minisign's four lines");
		err = check_one(&l, message, t, &c, d);
	}
	if (err == MSD_OK)
		err = check_count(t, &c, d);
	if (err == MSD_OK)
		*ret = c.signers;
	return err;
}

static msd_err read_secret(struct msd_span text, struct secret_key *ret,
			   struct msd_diag *d)
{
	static const char none[2] = {0, 0};
	struct msd_span line;
	bool is_key = cut_line(&text, &line) && cut_word(&line, UNTRUSTED);

	if (is_key && !cut_line(&text, &line))
		line = text; /* the last newline is missing */
	if (!is_key || !decode(line, ret, sizeof(*ret)) ||
	    memcmp(ret->algorithm, PLAIN, 2) != 0) {
		return msd_diag_set(d, MSD_BAD_REQUEST,
				    "expected a secret key of minisign's");
	}
	if (memcmp(ret->kdf, none, 2) != 0) {
		return msd_diag_set(d, MSD_UNSUPPORTED,
				    "a password locks the key: expected one made by "
				    "minisign -G -W");
	}
	return MSD_OK;
}

static void put_base64(struct msd_buf *out, const void *bytes, size_t n)
{
	char text[BASE64_ENCODE_RAW_LENGTH(sizeof(struct named_signature))];

	base64_encode_raw(text, n, bytes);
	msd_buf_put(out, text, BASE64_ENCODE_RAW_LENGTH(n));
	msd_buf_put_u8(out, '\n');
}

static void sign(struct msd_span message, const struct secret_key *key,
		 const char *comment, struct msd_buf *out)
{
	struct named_signature s = {.algorithm = {'E', 'D'}, .id = key->id};
	uint8_t hash[crypto_generichash_BYTES_MAX], global[crypto_sign_BYTES];
	struct msd_buf both = {0};

	hash_of(message, hash);
	(void)crypto_sign_detached(s.b, NULL, hash, sizeof(hash), key->b);
	msd_buf_put(&both, s.b, sizeof(s.b));
	msd_buf_put(&both, comment, strlen(comment));
	if (both.bad) {
		out->bad = true;
		return;
	}
	(void)crypto_sign_detached(global, NULL, both.p, both.n, key->b);
	msd_buf_finish(&both);
	msd_buf_printf(out, UNTRUSTED "signature by modser\n");
	put_base64(out, &s, sizeof(s));
	msd_buf_printf(out, TRUSTED "%s\n", comment);
	put_base64(out, global, sizeof(global));
}

msd_err msd_signature_make(struct msd_span message, struct msd_span secret,
			   const char *comment, struct msd_buf *out, struct msd_diag *d)
{
	struct secret_key key;
	msd_err err;

	if (sodium_init() < 0)
		return msd_diag_set(d, MSD_IO, "libsodium cannot be prepared");
	err = read_secret(secret, &key, d);
	if (err == MSD_OK)
		sign(message, &key, comment, out);
	sodium_memzero(&key, sizeof(key));
	if (err != MSD_OK)
		return err;
	return out->bad ? msd_diag_no_memory(d) : MSD_OK;
}
