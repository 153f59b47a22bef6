#include "daemon/supervisor/fetch/uri_digest.h"

#include <string.h>

#define SCHEME "oci://"
#define MARK "@sha256:"

bool msd_uri_digest_read(const char *uri, struct msd_digest *ret)
{
	const char *mark = strstr(uri, MARK);

	if (strncmp(uri, SCHEME, strlen(SCHEME)) != 0 || mark == NULL)
		return false;
	mark += strlen(MARK);
	return msd_digest_parse(
		(struct msd_span){(const uint8_t *)mark, strcspn(mark, "?")}, ret);
}

struct msd_span msd_promised_file(const char *uri)
{
	const size_t n = strcspn(uri, "?");
	size_t at = n;

	while (at > 0 && uri[at - 1] != '/')
		at--;
	return (struct msd_span){(const uint8_t *)uri + at, n - at};
}
