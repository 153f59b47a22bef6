#include "daemon/http/target.h"

#include <string.h>
#include <strings.h>

static bool begins_with(struct msd_span s, const char *word)
{
	const size_t n = strlen(word);

	return s.n >= n && strncasecmp((const char *)s.p, word, n) == 0;
}

bool msd_http_target_cut(struct msd_span target, struct msd_span *ret_host,
			 struct msd_span *ret_path)
{
	const size_t n_scheme = begins_with(target, "http://")    ? strlen("http://")
				: begins_with(target, "https://") ? strlen("https://")
								  : 0;
	struct msd_span host = {target.p + n_scheme, 0};

	*ret_host = (struct msd_span){0};
	*ret_path = target;
	if (n_scheme == 0)
		return true;
	while (n_scheme + host.n < target.n && memchr("/?#", host.p[host.n], 3) == NULL)
		host.n++;
	if (host.n == 0 || host.p[0] == ':' || memchr(host.p, '@', host.n) != NULL)
		return false;
	*ret_host = host;
	*ret_path = (struct msd_span){host.p + host.n, target.n - n_scheme - host.n};
	if (ret_path->n == 0 || *ret_path->p != '/')
		*ret_path = msd_span_of("/"); /* a query says nothing here */
	return true;
}
