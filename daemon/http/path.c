#include "daemon/http/path.h"

static int hex(uint8_t c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Decode an escape after its first character; 0 if it is invalid. */
static uint8_t take_escaped(struct msd_cur *c)
{
	const int high = hex(msd_cur_u8(c)), low = hex(msd_cur_u8(c));
	if (c->bad || high < 0 || low < 0)
		return 0;
	return (uint8_t)(high << 4 | low);
}

static bool read_segment(struct msd_cur *c, struct msd_http_path *p, size_t *at)
{
	const size_t begin = *at;

	while (c->left > 0 && *c->p != '/') {
		uint8_t byte = *c->p++;
		c->left--;
		if (byte == '%')
			byte = take_escaped(c);
		if (byte == 0)
			return false;
		p->bytes[(*at)++] = byte;
	}
	p->segments[p->n++] = (struct msd_span){p->bytes + begin, *at - begin};
	return true;
}

bool msd_http_path_read(struct msd_span target, struct msd_http_path *ret)
{
	size_t n = 0, at = 0;

	while (n < target.n && target.p[n] != '?')
		n++;
	ret->n = 0;
	if (n == 0 || n > MSD_HTTP_PATH_BYTES || target.p[0] != '/')
		return false;
	struct msd_cur c = msd_cur_of((struct msd_span){target.p, n});
	while (c.left > 0) {
		(void)msd_cur_u8(&c); /* skip the slash */
		if (c.left == 0 && ret->n == 0)
			return true;
		if (ret->n == MSD_HTTP_SEGMENTS || !read_segment(&c, ret, &at))
			return false;
	}
	return true;
}
