#ifndef MSD_ARTIFACT_SHA256_H
#define MSD_ARTIFACT_SHA256_H
/* SHA-256 (FIPS 180-4), as sha256sum prints it. */
#include "proto/bytes.h"

#define MSD_SHA256_TEXT 65 /* bytes incl. NUL */

/** The hash of @bytes in hexadecimal into @ret. */
void msd_sha256(struct msd_span bytes, char ret[static MSD_SHA256_TEXT]);

#endif
