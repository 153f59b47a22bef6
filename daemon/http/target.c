#include "daemon/http/target.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

static bool begins_with(struct msd_span s, const char *word)
{
	const size_t n = strlen(word);

	return s.n >= n && strncasecmp((const char *)s.p, word, n) == 0;
}

/* Host characters. A user part is not allowed. */
static bool is_of_host(uint8_t c)
{
	return isalnum(c) || (c != 0 && strchr("-._~%!$&'()*+,;=:[]", c) != NULL);
}

static size_t host_bytes(struct msd_span s)
{
	size_t n = 0;

	while (n < s.n && is_of_host(s.p[n]))
		n++;
	return n;
}

/* Length of `[ADDRESS]` at the start of @s; 0 if absent. */
static size_t address_bytes(struct msd_span s)
{
	size_t n = 1;

	while (n < s.n && (isxdigit(s.p[n]) || s.p[n] == ':' || s.p[n] == '.'))
		n++;
	return s.n > 0 && *s.p == '[' && n > 1 && n < s.n && s.p[n] == ']' ? n + 1 : 0;
}

/* An IPv6 address or a name, with an optional port. Empty is valid, too. */
static bool is_host(struct msd_span s)
{
	size_t n = address_bytes(s);

	if (n == 0) {
		while (n < s.n && is_of_host(s.p[n]) && strchr(":[]", s.p[n]) == NULL)
			n++;
	}
	if (n < s.n && s.p[n++] != ':')
		return false;
	while (n < s.n && isdigit(s.p[n]))
		n++;
	return n == s.n;
}

bool msd_http_target_cut(struct msd_span *target, struct msd_span *host)
{
	const size_t n_scheme = begins_with(*target, "http://")    ? strlen("http://")
				: begins_with(*target, "https://") ? strlen("https://")
								   : 0;
	struct msd_span rest = {target->p + n_scheme, target->n - n_scheme};

	if (n_scheme == 0)
		return is_host(*host);
	*host = (struct msd_span){rest.p, host_bytes(rest)};
	rest.p += host->n;
	rest.n -= host->n;
	if (host->n == 0 || *host->p == ':' || !is_host(*host))
		return false;
	*target = rest.n > 0 && *rest.p == '/' ? rest : msd_span_of("/");
	return rest.n == 0 || strchr("/?#", *rest.p) != NULL;
}

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
