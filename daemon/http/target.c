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
