#include "daemon/fetch/source_check.h"

#include "daemon/fetch/registry/oci_name.h"
#include "daemon/fetch/steps.h"

/* Run the first step of the plan, without a requested digest. */
static msd_err check_policy(enum msd_policy policy, struct msd_diag *d)
{
	struct msd_fetch_steps p = {.order.trust.policy = policy};
	const msd_err err = msd_fetch_steps_begin(&p, false, d);

	msd_fetch_steps_finish(&p);
	return err;
}

msd_err msd_source_check(const char *uri, enum msd_policy policy, bool insecure,
			 struct msd_diag *d)
{
	struct msd_oci_name name = {0};
	struct msd_uri u;
	msd_err err = msd_uri_read(uri, insecure, &u, d);

	if (err == MSD_OK && u.scheme == MSD_SCHEME_OCI)
		err = msd_oci_name_read(&u, &name, d);
	if (err == MSD_OK && !msd_oci_is_by_digest(&u))
		err = check_policy(policy, d);
	msd_oci_name_finish(&name);
	msd_uri_finish(&u);
	return err;
}
