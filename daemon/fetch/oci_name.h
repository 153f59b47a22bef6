#ifndef MSD_FETCH_OCI_NAME_H
#define MSD_FETCH_OCI_NAME_H
/* What is asked of a registry, out of an oci:// URI. */
#include "daemon/fetch/uri.h"

struct msd_oci_name {
	char *base;      /* owned; "https://HOST/v2/REPOSITORY" */
	char *reference; /* owned; a tag, or "sha256:HEX" */
};

/** oci://HOST/REPOSITORY[:TAG|@sha256:HEX]; the tag is "latest" where none is said.
 * Finish in every case. MSD_BAD_REQUEST, MSD_NOMEM. */
MSD_MUST_CHECK msd_err msd_oci_name_read(const struct msd_uri *u,
					 struct msd_oci_name *ret, struct msd_diag *d);
/** Such a reference by digest is a promise, though of the registry's manifest. */
bool msd_oci_is_by_digest(const struct msd_uri *u);
void msd_oci_name_finish(struct msd_oci_name *n);

#endif
