#ifndef MSD_SUPERVISOR_FETCH_FETCH_OPTIONS_H
#define MSD_SUPERVISOR_FETCH_FETCH_OPTIONS_H

/* Fetch options: which content is accepted, and how the server is reached. Options in
 * a module's section override the defaults. */

#include <stdbool.h>

#include "proto/base/bytes.h"
#include "store/digest.h"
#include "store/trust.h"

#define MSD_PULL_FROM_MAX 32u

/* URL prefixes. */
struct msd_pull_from {
	uint32_t n;
	const char *each[MSD_PULL_FROM_MAX];
};

struct msd_fetch_options {
	bool has_policy;
	enum msd_policy policy;
	/* Files, a URL and hosts as in daemon/fetch/CHANNEL.md; NULL: not given. */
	const char *auth, *ca, *proxy, *realm;
	bool has_insecure, insecure;
	/* Prefixes that clients other than the operator may fetch from, in addition
	 * to public sources. A default only, never set for one module. */
	struct msd_pull_from pull_from;
};

/**
 * Copy with own strings; call msd_fetch_options_finish() also after a failure. Errors:
 * MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_fetch_options_copy(const struct msd_fetch_options *from,
					      struct msd_fetch_options *ret,
					      struct msd_diag *d);
/** Free a copy. */
void msd_fetch_options_finish(struct msd_fetch_options *t);
#define MSD_FETCH_OPTIONS_KEYS 5u
/** Append the pair of a fetch.get that restricts a client other than the operator. */
void msd_fetch_options_put_bound(const struct msd_fetch_options *all,
				 struct msd_buf *ret);
/**
 * Append MSD_FETCH_OPTIONS_KEYS pairs of a fetch.get: the options of @own, which may be
 * NULL, and for the rest those of @all; "" if neither has the option.
 */
void msd_fetch_options_put(const struct msd_fetch_options *own,
			   const struct msd_fetch_options *all, struct msd_buf *ret);

/* The digest in a URI: oci://HOST/REPOSITORY@sha256:HEX always names the same bytes,
 * by the SHA-256 of the registry's manifest. modserd-fetch verifies the manifest. */

/** Returns false, with *ret unchanged, if the URI has no digest. */
bool msd_uri_digest_read(const char *uri, struct msd_digest *ret);
/** The file name of the bytes at @uri: the end of its path. Borrowed. */
struct msd_span msd_promised_file(const char *uri);

#endif
