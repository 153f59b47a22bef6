#include "proto/base/text.h"

#include <string.h>

#define MAX_DIGITS 20 /* digits of UINT64_MAX */

void msd_text_decimal(struct msd_buf *b, uint64_t v)
{
	/* Two digits at a time: metrics of many modules are mostly digits. */
	static const char pairs[] = "0001020304050607080910111213141516171819"
				    "2021222324252627282930313233343536373839"
				    "4041424344454647484950515253545556575859"
				    "6061626364656667686970717273747576777879"
				    "8081828384858687888990919293949596979899";
	char digits[MAX_DIGITS];
	size_t at = sizeof(digits);

	for (; v >= 100; v /= 100)
		memcpy(digits + (at -= 2), pairs + 2 * (v % 100), 2);
	if (v >= 10) {
		memcpy(digits + (at -= 2), pairs + 2 * v, 2);
	} else {
		digits[--at] = (char)('0' + v);
	}
	msd_buf_put(b, digits + at, sizeof(digits) - at);
}
