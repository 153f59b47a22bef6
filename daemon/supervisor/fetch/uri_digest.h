#ifndef MSD_SUPERVISOR_URI_DIGEST_H
#define MSD_SUPERVISOR_URI_DIGEST_H
/* The digest in a URI: oci://HOST/REPOSITORY@sha256:HEX always names the same bytes,
 * by the SHA-256 of the registry's manifest. modserd-fetch verifies the manifest. */
#include <stdbool.h>

#include "proto/base/bytes.h"
#include "store/digest.h"

/** Returns false, with *ret unchanged, if the URI has no digest. */
bool msd_uri_digest_read(const char *uri, struct msd_digest *ret);
/** The file name of the bytes at @uri: the end of its path. Borrowed. */
struct msd_span msd_promised_file(const char *uri);

#endif
