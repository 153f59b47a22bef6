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

/* Behind the string that begins at @i. */
static size_t skip_string(struct msd_span text, size_t i)
{
	for (i++; i < text.n && text.p[i] != '"'; i++)
		i += text.p[i] == '\\';
	return i;
}

void msd_json_count(struct msd_span text, struct msd_json_parts *ret)
{
	size_t depth = 0;

	*ret = (struct msd_json_parts){0};
	for (size_t i = 0; i < text.n; i++) {
		const uint8_t c = text.p[i];

		if (c == '"')
			i = skip_string(text, i);
		ret->n_objects += c == '{';
		ret->n_arrays += c == '[';
		ret->n_pairs += c == ':';
		ret->n_commas += c == ',';
		if (c == '{' || c == '[') {
			depth++;
		} else if ((c == '}' || c == ']') && depth > 0) {
			depth--;
		}
		if (depth > ret->depth)
			ret->depth = depth;
	}
}
