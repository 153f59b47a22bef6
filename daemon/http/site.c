#include "daemon/http/site.h"

#include <string.h>
#include <strings.h>

static bool is_same(struct msd_span a, struct msd_span b)
{
	return a.n == b.n && a.n > 0 &&
	       strncasecmp((const char *)a.p, (const char *)b.p, a.n) == 0;
}

static bool ends_in(struct msd_span s, const char *word)
{
	const size_t n = strlen(word);

	return s.n >= n &&
	       is_same((struct msd_span){s.p + (s.n - n), n}, msd_span_of(word));
}

/* Remove the default port, which a browser omits. */
static struct msd_span without(struct msd_span host, const char *port)
{
	if (ends_in(host, port))
		host.n -= strlen(port);
	return host;
}

bool msd_site_is_own(struct msd_span origin, struct msd_span host)
{
	static const struct {
		const char *scheme, *port;
	} rows[] = {{"http://", ":80"}, {"https://", ":443"}};

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const size_t n = strlen(rows[i].scheme);
		if (origin.n > n && memcmp(origin.p, rows[i].scheme, n) == 0) {
			const struct msd_span site = {origin.p + n, origin.n - n};
			return is_same(without(site, rows[i].port),
				       without(host, rows[i].port));
		}
	}
	return false;
}

bool msd_site_may_move(struct msd_span host)
{
	bool has_letter = false, has_dot = false;

	if (host.n == 0 || host.p[0] == '[') /* empty, or IPv6 */
		return false;
	const uint8_t *port = memrchr(host.p, ':', host.n);
	if (port != NULL)
		host.n = (size_t)(port - host.p);
	if (host.n > 0 && host.p[host.n - 1] == '.')
		host.n--;
	for (size_t i = 0; i < host.n; i++) {
		has_dot = has_dot || host.p[i] == '.';
		has_letter = has_letter || !((host.p[i] >= '0' && host.p[i] <= '9') ||
					     host.p[i] == '.');
	}
	return has_letter && has_dot && !ends_in(host, ".localhost");
}
