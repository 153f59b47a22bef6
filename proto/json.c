#include "proto/json.h"

#include <string.h>

#include "proto/utf8.h"

static bool is_plain(uint8_t byte)
{
	return byte >= 0x20 && byte != 0x7f && byte != '"' && byte != '\\';
}

static void put_escaped(struct msd_buf *out, uint8_t byte)
{
	switch (byte) {
	case '"':
	case '\\':
		msd_buf_printf(out, "\\%c", byte);
		return;
	case '\n':
		msd_buf_printf(out, "\\n");
		return;
	case '\t':
		msd_buf_printf(out, "\\t");
		return;
	default:
		if (byte < 0x80) {
			msd_buf_printf(out, "\\u%04x", byte);
		} else { /* not UTF-8 */
			msd_buf_printf(out, "\\ufffd");
		}
	}
}

void msd_json_str(struct msd_buf *out, struct msd_span s)
{
	msd_buf_put_u8(out, '"');
	while (s.n > 0) {
		size_t run = 0;

		while (run < s.n && is_plain(s.p[run]))
			run++;
		run = msd_utf8_prefix((struct msd_span){s.p, run});
		msd_buf_put(out, s.p, run);
		if (run < s.n)
			put_escaped(out, s.p[run++]);
		s.p += run;
		s.n -= run;
	}
	msd_buf_put_u8(out, '"');
}

void msd_json_cstr(struct msd_buf *out, const char *text)
{
	if (text == NULL) {
		msd_buf_printf(out, "null");
	} else {
		msd_json_str(out, msd_span_of(text));
	}
}
