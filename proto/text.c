#include "proto/text.h"

#define MAX_DIGITS 20 /* of UINT64_MAX */

void msd_text_decimal(struct msd_buf *b, uint64_t v)
{
	char digits[MAX_DIGITS];
	size_t at = sizeof(digits);

	do {
		digits[--at] = (char)('0' + v % 10);
		v /= 10;
	} while (v > 0);
	msd_buf_put(b, digits + at, sizeof(digits) - at);
}
