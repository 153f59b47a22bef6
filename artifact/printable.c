#include "artifact/printable.h"

#include <stdio.h>

#include "proto/base/utf8.h"

const char *msd_printable(struct msd_span s, char buf[static MSD_PRINTABLE_MAX])
{
	size_t at = 0;

	for (size_t i = 0; i < s.n; i++) {
		if (at > MSD_PRINTABLE_MAX - sizeof("\\xNN...")) {
			(void)snprintf(buf + at, MSD_PRINTABLE_MAX - at, "...");
			return buf;
		}
		if (s.p[i] >= 0x20 && s.p[i] < 0x7f) {
			buf[at++] = (char)s.p[i];
		} else {
			at += (size_t)snprintf(buf + at, MSD_PRINTABLE_MAX - at,
					       "\\x%02x", s.p[i]);
		}
	}
	buf[at] = '\0';
	return buf;
}

void msd_printable_put(struct msd_buf *out, struct msd_span s)
{
	while (s.n > 0) {
		size_t run = msd_utf8_shown(s);

		msd_buf_put(out, s.p, run);
		if (run < s.n)
			msd_buf_printf(out, "\\x%02x", s.p[run++]);
		s.p += run;
		s.n -= run;
	}
}

char *msd_printable_copy(struct msd_span s)
{
	struct msd_buf text = {0};

	msd_printable_put(&text, s);
	msd_buf_put_u8(&text, '\0');
	if (text.bad)
		msd_buf_finish(&text);
	return (char *)text.p;
}
