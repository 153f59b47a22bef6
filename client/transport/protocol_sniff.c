#include "client/transport/protocol_sniff.h"

#include <string.h>

#include "proto/limits.h"

/* First bytes from servers of other protocols. */
static const struct {
	const char *begin;
	const char *who;
} known[] = {
	{"HTTP/", "an HTTP server"},
	{"\x15\x03", "a TLS server"},
	{"SSH-", "an SSH server"},
};

#define ENOUGH_BYTES 5u /* the longest prefix */
#define VERSION_AT 3u   /* magic bytes; the version byte follows */

bool msd_stranger_is(struct msd_span first)
{
	return first.n >= ENOUGH_BYTES && memcmp(first.p, MSD_MAGIC, VERSION_AT) != 0;
}

msd_err msd_stranger_fail(struct msd_span first, struct msd_diag *d)
{
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		const size_t n = strlen(known[i].begin);

		if (first.n >= n && memcmp(first.p, known[i].begin, n) == 0) {
			return msd_diag_set(d, MSD_PROTOCOL,
					    "the peer is %s, not modserd",
					    known[i].who);
		}
	}
	return msd_diag_set(d, MSD_PROTOCOL,
			    "the peer is not modserd: it begins with %02x %02x %02x",
			    first.p[0], first.p[1], first.p[2]);
}
