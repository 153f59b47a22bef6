#ifndef MSD_FETCH_AUTH_H
#define MSD_FETCH_AUTH_H
/*
 * Names and passwords by host, as `docker login` and `skopeo login` write them: a file
 * of JSON, {"auths": {"HOST[:PORT]": {"auth": "base64 of NAME:PASSWORD"}}}. It is read
 * for each fetch, so that a password that was changed counts at once.
 */
#include <stdbool.h>

#include "proto/diag.h"

/** The header to send, "Authorization: Basic ...", owned by the caller; *ret NULL: the
 * file @path has nothing for @host. Errors: MSD_IO (it cannot be read), MSD_BAD_REQUEST
 * (it is no such file, or names a way that is none of ours), MSD_NOMEM; the text names
 * the file and nothing of its contents. */
MSD_MUST_CHECK msd_err msd_auth_find(const char *path, const char *host, char **ret,
				     struct msd_diag *d);
/** Whether @key names @host, a URI's (uri.h): "HOST[:PORT]", 443 where it says none,
 * or, as docker writes its own, a URL there. */
bool msd_auth_is_of(const char *key, const char *host);

#endif
