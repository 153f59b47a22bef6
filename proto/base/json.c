#include "proto/base/json.h"

#include <string.h>

#include "proto/base/utf8.h"

static bool is_plain(uint8_t byte)
{
	return byte >= 0x20 && byte != 0x7f && byte != '"' && byte != '\\';
}

/* Append the first character of @s, escaped; returns its length. */
static size_t put_escaped(struct msd_buf *out, struct msd_span s)
{
	size_t n;
	const uint32_t c = msd_utf8_first(s, &n);

	switch (c) {
	case '"':
	case '\\':
		msd_buf_printf(out, "\\%c", (char)c);
		break;
	case '\n':
		msd_buf_printf(out, "\\n");
		break;
	case '\t':
		msd_buf_printf(out, "\\t");
		break;
	default:
		msd_buf_printf(out, "\\u%04x", c); /* never beyond U+FFFF */
	}
	return n;
}

void msd_json_str(struct msd_buf *out, struct msd_span s)
{
	msd_buf_put_u8(out, '"');
	while (s.n > 0) {
		size_t run = 0;

		while (run < s.n && is_plain(s.p[run]))
			run++;
		run = msd_utf8_shown((struct msd_span){s.p, run});
		msd_buf_put(out, s.p, run);
		s.p += run;
		s.n -= run;
		if (s.n > 0) {
			const size_t n = put_escaped(out, s);

			s.p += n;
			s.n -= n;
		}
	}
	msd_buf_put_u8(out, '"');
}

void msd_json_put_shown(struct msd_buf *out, struct msd_span json)
{
	while (json.n > 0) {
		size_t n = msd_utf8_shown(json);

		msd_buf_put(out, json.p, n);
		json.p += n;
		json.n -= n;
		if (json.n == 0)
			return;
		n = 1;
		if (json.p[0] == '\n' || json.p[0] == '\t') { /* between values */
			msd_buf_put_u8(out, json.p[0]);
		} else {
			n = put_escaped(out, json);
		}
		json.p += n;
		json.n -= n;
	}
}

void msd_json_cstr(struct msd_buf *out, const char *text)
{
	if (text == NULL) {
		msd_buf_printf(out, "null");
	} else {
		msd_json_str(out, msd_span_of(text));
	}
}

/* The position after the string that begins at @i. */
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
