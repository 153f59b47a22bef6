/* Keys and their ids. Happy path: the base64 line is decoded, and its first bytes are
 * the key id. Failures: a line that is not a key is refused, or matches no key. */
#include "store/trust.h"

#include <nettle/base64.h>
#include <string.h>

#define KEY_LINE_BYTES (2 + MSD_KEY_ID_BYTES + MSD_PUBLIC_KEY_BYTES)
#define COMMENT "untrusted comment:"
#define NAMED_CHARS 16 /* base64 characters that contain the id */

static const char *const words[MSD_POLICY_COUNT] = {
#define MSD_POLICY_WORD(e, word) [MSD_POLICY_##e] = word,
	MSD_POLICY_MAP(MSD_POLICY_WORD)
#undef MSD_POLICY_WORD
};

const char *msd_policy_word(enum msd_policy policy)
{
	return words[policy];
}

bool msd_policy_parse(struct msd_span word, enum msd_policy *ret)
{
	for (unsigned i = 0; i < MSD_POLICY_COUNT; i++) {
		if (msd_span_is(word, words[i])) {
			*ret = (enum msd_policy)i;
			return true;
		}
	}
	return false;
}

void msd_key_id_format(const struct msd_key_id *id, char ret[static MSD_KEY_ID_TEXT])
{
	static const char digits[] = "0123456789ABCDEF";

	for (size_t i = 0; i < MSD_KEY_ID_BYTES; i++) {
		const uint8_t b = id->b[MSD_KEY_ID_BYTES - 1 - i];

		ret[2 * i] = digits[b >> 4];
		ret[2 * i + 1] = digits[b & 15];
	}
	ret[MSD_KEY_ID_TEXT - 1] = '\0';
}

bool msd_key_id_equal(const struct msd_key_id *a, const struct msd_key_id *b)
{
	return memcmp(a->b, b->b, sizeof(a->b)) == 0;
}

/* Cut the next line without its end, LF or CR LF. */
static struct msd_span cut_line(struct msd_span *rest)
{
	const uint8_t *end = rest->n > 0 ? memchr(rest->p, '\n', rest->n) : NULL;
	struct msd_span line = {rest->p,
				end != NULL ? (size_t)(end - rest->p) : rest->n};
	const size_t eaten = end != NULL ? line.n + 1 : line.n;

	rest->p += eaten;
	rest->n -= eaten;
	while (line.n > 0 && (line.p[line.n - 1] == '\r' || line.p[line.n - 1] == ' '))
		line.n--;
	return line;
}

static bool decode(struct msd_span line, uint8_t ret[static KEY_LINE_BYTES])
{
	struct base64_decode_ctx ctx;
	uint8_t bytes[BASE64_DECODE_LENGTH(64)];
	size_t n = sizeof(bytes);

	base64_decode_init(&ctx);
	if (line.n > 64 ||
	    base64_decode_update(&ctx, &n, bytes, line.n, (const char *)line.p) != 1 ||
	    base64_decode_final(&ctx) != 1 || n != KEY_LINE_BYTES)
		return false;
	memcpy(ret, bytes, KEY_LINE_BYTES);
	return true;
}

msd_err msd_public_key_parse(struct msd_span text, struct msd_public_key *ret,
			     struct msd_diag *d)
{
	uint8_t bytes[KEY_LINE_BYTES];
	struct msd_span line = cut_line(&text);

	if (line.n >= sizeof(COMMENT) - 1 &&
	    memcmp(line.p, COMMENT, sizeof(COMMENT) - 1) == 0)
		line = cut_line(&text);
	if (!decode(line, bytes) || memcmp(bytes, "Ed", 2) != 0) {
		return msd_diag_set(d, MSD_BAD_REQUEST,
				    "expected a minisign public key: a line of base64 "
				    "that begins with RW");
	}
	while (text.n > 0) {
		if (cut_line(&text).n > 0) {
			return msd_diag_set(d, MSD_BAD_REQUEST,
					    "expected one key: put each in a file of "
					    "its own");
		}
	}
	memcpy(ret->id.b, bytes + 2, MSD_KEY_ID_BYTES);
	memcpy(ret->b, bytes + 2 + MSD_KEY_ID_BYTES, MSD_PUBLIC_KEY_BYTES);
	return MSD_OK;
}

msd_err msd_trust_add(struct msd_trust *t, const struct msd_public_key *key,
		      struct msd_diag *d)
{
	for (uint32_t i = 0; i < t->n_keys; i++) {
		if (memcmp(&t->keys[i], key, sizeof(*key)) == 0)
			return MSD_OK;
	}
	if (t->n_keys == MSD_TRUST_KEYS) {
		return msd_diag_set(d, MSD_TOO_LARGE, "more than %u keys",
				    MSD_TRUST_KEYS);
	}
	t->keys[t->n_keys++] = *key;
	return MSD_OK;
}

/* The line after an untrusted comment begins with "Ed" or "ED" and the key id. */
static bool read_named(struct msd_span line, struct msd_key_id *ret)
{
	uint8_t bytes[BASE64_DECODE_LENGTH(NAMED_CHARS)];
	struct base64_decode_ctx ctx;
	size_t n = sizeof(bytes);

	base64_decode_init(&ctx);
	if (line.n < NAMED_CHARS ||
	    base64_decode_update(&ctx, &n, bytes, NAMED_CHARS, (const char *)line.p) !=
		    1 ||
	    n < 2 + MSD_KEY_ID_BYTES)
		return false;
	memcpy(ret->b, bytes + 2, MSD_KEY_ID_BYTES);
	return true;
}

uint32_t msd_trust_count_named(const struct msd_trust *t, struct msd_span signatures)
{
	bool is_named[MSD_TRUST_KEYS] = {false};
	uint32_t n = 0;

	while (signatures.n > 0) {
		struct msd_key_id id;
		const struct msd_span comment = cut_line(&signatures);

		if (comment.n < sizeof(COMMENT) - 1 ||
		    memcmp(comment.p, COMMENT, sizeof(COMMENT) - 1) != 0 ||
		    !read_named(cut_line(&signatures), &id))
			continue;
		for (uint32_t i = 0; i < t->n_keys; i++) {
			n += !is_named[i] && msd_key_id_equal(&t->keys[i].id, &id);
			is_named[i] |= msd_key_id_equal(&t->keys[i].id, &id);
		}
	}
	return n;
}
