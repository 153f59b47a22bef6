#include "store/digest.h"

#include <nettle/base16.h>
#include <string.h>

/* -1 if not a digit. */
static int digit_value(uint8_t c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool msd_digest_parse(struct msd_span text, struct msd_digest *ret)
{
	static const char prefix[] = "sha256:";
	const size_t n_prefix = sizeof(prefix) - 1;
	struct msd_digest digest;

	if (text.n > n_prefix && memcmp(text.p, prefix, n_prefix) == 0) {
		text.p += n_prefix;
		text.n -= n_prefix;
	}
	if (text.n != 2 * MSD_DIGEST_BYTES)
		return false;
	for (size_t i = 0; i < MSD_DIGEST_BYTES; i++) {
		int high = digit_value(text.p[2 * i]);
		int low = digit_value(text.p[2 * i + 1]);

		if (high < 0 || low < 0)
			return false;
		digest.b[i] = (uint8_t)(high << 4 | low);
	}
	*ret = digest;
	return true;
}

void msd_digest_format(const struct msd_digest *digest,
		       char ret[static MSD_DIGEST_TEXT])
{
	base16_encode_update(ret, MSD_DIGEST_BYTES, digest->b);
	ret[MSD_DIGEST_TEXT - 1] = '\0';
}

bool msd_digest_equal(const struct msd_digest *a, const struct msd_digest *b)
{
	return memcmp(a->b, b->b, sizeof(a->b)) == 0;
}

void msd_digest_of(struct msd_span bytes, struct msd_digest *ret)
{
	struct sha256_ctx hash;

	sha256_init(&hash);
	sha256_update(&hash, bytes.n, bytes.p);
	sha256_digest(&hash, sizeof(ret->b), ret->b);
}
