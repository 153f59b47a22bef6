#ifndef MSD_FETCH_OCI_NAME_H
#define MSD_FETCH_OCI_NAME_H
/* Registry URL and reference of an oci:// URI. */
#include "daemon/fetch/uri.h"

struct msd_oci_name {
	char *base;      /* owned; "https://HOST/v2/REPOSITORY" */
	char *reference; /* owned; a tag, or "sha256:HEX" */
};

/**
 * Parse oci://HOST/REPOSITORY[:TAG|@sha256:HEX]; the default tag is "latest". Finish
 * in every case. MSD_BAD_REQUEST, MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_oci_name_read(const struct msd_uri *u,
					 struct msd_oci_name *ret, struct msd_diag *d);
/** True for a reference by digest. The digest is of the registry's manifest. */
bool msd_oci_is_by_digest(const struct msd_uri *u);
void msd_oci_name_finish(struct msd_oci_name *n);

#endif
