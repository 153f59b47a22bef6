#ifndef MSD_FETCH_AUTH_H
#define MSD_FETCH_AUTH_H
/*
 * User names and passwords by host, in the JSON file of `docker login` and `skopeo
 * login`: {"auths": {"HOST[:PORT]": {"auth": "base64 of NAME:PASSWORD"}}}. Each fetch
 * reads the file again, so a changed password takes effect at once.
 */
#include <stdbool.h>

#include "proto/base/diag.h"

/**
 * The header to send, "Authorization: Basic ...", owned by the caller. *ret is NULL
 * if the file @path has no entry for @host. Errors: MSD_IO (the file cannot be read),
 * MSD_BAD_REQUEST (not such a file, or the entry uses an unsupported method),
 * MSD_NOMEM. The error text names the file and shows nothing of its contents.
 */
MSD_MUST_CHECK msd_err msd_auth_find(const char *path, const char *host, char **ret,
				     struct msd_diag *d);
/**
 * True if @key names @host. @host is a URI's host (uri.h), "HOST[:PORT]", port 443 by
 * default. @key may be a host, or a URL as docker writes it.
 */
bool msd_auth_is_of(const char *key, const char *host);

#endif
