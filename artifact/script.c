#include "artifact/script.h"

#include <string.h>

static bool is_head(struct msd_span s, const char *head)
{
	const size_t n = strlen(head);

	return s.n > n && memcmp(s.p, head, n) == 0;
}

bool msd_script_take_constant(struct msd_span *text, struct msd_span *ret)
{
	const size_t n = sizeof("T.int64(") - 1;
	size_t first = n;
	size_t end;

	if (!is_head(*text, "T.int64(") && !is_head(*text, "T.int32("))
		return false;
	if (text->p[first] == '-')
		first++;
	end = first;
	while (end < text->n && text->p[end] >= '0' && text->p[end] <= '9')
		end++;
	if (end == first || end == text->n || text->p[end] != ')')
		return false;
	*ret = (struct msd_span){text->p + n, end - n};
	*text = (struct msd_span){text->p + end + 1, text->n - end - 1};
	return true;
}

void msd_script_put_plain(struct msd_buf *out, struct msd_span text)
{
	struct msd_span digits;

	while (text.n > 0) {
		if (msd_script_take_constant(&text, &digits)) {
			msd_buf_put(out, digits.p, digits.n);
		} else {
			msd_buf_put_u8(out, *text.p++);
			text.n--;
		}
	}
}
