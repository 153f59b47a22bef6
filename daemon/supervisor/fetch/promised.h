#ifndef MSD_SUPERVISOR_PROMISED_H
#define MSD_SUPERVISOR_PROMISED_H
/* What a URI says of its bytes: oci://HOST/REPOSITORY@sha256:HEX leads to the same for
 * ever, the registry's manifest of that SHA-256, which modserd-fetch has checked. */
#include <stdbool.h>

#include "proto/bytes.h"
#include "store/digest.h"

/** False, *ret unchanged: it promises nothing. */
bool msd_promised_read(const char *uri, struct msd_digest *ret);
/** What the bytes are called at @uri: the end of its path. Borrowed. */
struct msd_span msd_promised_file(const char *uri);

#endif
