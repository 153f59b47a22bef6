#include "daemon/http/target.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

static bool begins_with(struct msd_span s, const char *word)
{
	const size_t n = strlen(word);

	return s.n >= n && strncasecmp((const char *)s.p, word, n) == 0;
}

/* Without a user, which nobody asks here. */
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

bool msd_http_target_cut(struct msd_span *target, struct msd_span *host)
{
	const size_t n_scheme = begins_with(*target, "http://")    ? strlen("http://")
				: begins_with(*target, "https://") ? strlen("https://")
								   : 0;
	struct msd_span rest = {target->p + n_scheme, target->n - n_scheme};

	if (n_scheme == 0)
		return host_bytes(*host) == host->n;
	*host = (struct msd_span){rest.p, host_bytes(rest)};
	rest.p += host->n;
	rest.n -= host->n;
	if (host->n == 0 || *host->p == ':')
		return false;
	*target = rest.n > 0 && *rest.p == '/' ? rest : msd_span_of("/");
	return rest.n == 0 || strchr("/?#", *rest.p) != NULL;
}
