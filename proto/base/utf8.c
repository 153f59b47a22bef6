#include "proto/base/utf8.h"

#include <string.h>

/* Length of the well-formed multi-byte sequence at @p, 0 if there is none. */
static size_t sequence_bytes(const uint8_t *p, size_t left)
{
	size_t n;
	uint8_t low = 0x80, high = 0xbf; /* range of the second byte */

	if (p[0] >= 0xc2 && p[0] <= 0xdf) {
		n = 2;
	} else if (p[0] >= 0xe0 && p[0] <= 0xef) {
		n = 3;
		if (p[0] == 0xe0)
			low = 0xa0; /* below: a shorter form exists */
		if (p[0] == 0xed)
			high = 0x9f; /* above: surrogates */
	} else if (p[0] >= 0xf0 && p[0] <= 0xf4) {
		n = 4;
		if (p[0] == 0xf0)
			low = 0x90;
		if (p[0] == 0xf4)
			high = 0x8f; /* above: beyond U+10FFFF */
	} else {
		return 0;
	}
	if (n > left || p[1] < low || p[1] > high)
		return 0;
	for (size_t i = 2; i < n; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	}
	return n;
}

size_t msd_utf8_prefix(struct msd_span s)
{
	size_t at = 0;

	while (at < s.n) {
		uint64_t word;

		if (s.n - at >= sizeof(word)) { /* names and texts are mostly ASCII */
			memcpy(&word, s.p + at, sizeof(word));
			if ((word & 0x8080808080808080u) == 0) {
				at += sizeof(word);
				continue;
			}
		}
		if (s.p[at] < 0x80) {
			at++;
			continue;
		}
		size_t n = sequence_bytes(s.p + at, s.n - at);
		if (n == 0)
			break;
		at += n;
	}
	return at;
}

uint32_t msd_utf8_first(struct msd_span s, size_t *ret_n)
{
	static const uint8_t first_bits[] = {0, 0, 0x1f, 0x0f, 0x07};
	uint32_t c;

	*ret_n = 1;
	if (s.p[0] < 0x80)
		return s.p[0];
	const size_t n = sequence_bytes(s.p, s.n);
	if (n == 0)
		return 0xfffd;
	c = s.p[0] & first_bits[n];
	for (size_t i = 1; i < n; i++)
		c = c << 6 | (s.p[i] & 0x3fu);
	*ret_n = n;
	return c;
}

static bool is_obeyed(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c <= 0x9f) || (c >= 0x2028 && c <= 0x202e) ||
	       (c >= 0x2066 && c <= 0x2069);
}

size_t msd_utf8_shown(struct msd_span s)
{
	size_t at = 0;

	while (at < s.n) {
		size_t n = 1;

		if (s.p[at] < 0x20 || s.p[at] >= 0x7f) {
			const uint32_t c = msd_utf8_first(
				(struct msd_span){s.p + at, s.n - at}, &n);

			if (is_obeyed(c) || (c == 0xfffd && n == 1))
				break;
		}
		at += n;
	}
	return at;
}
