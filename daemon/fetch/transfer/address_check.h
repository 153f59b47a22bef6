#ifndef MSD_FETCH_ADDRESS_CHECK_H
#define MSD_FETCH_ADDRESS_CHECK_H
/*
 * Restrict the addresses that an easy handle may connect to. The check uses the
 * address at connect time, because a name may resolve differently later. Reused
 * connections are checked again.
 */
#include <curl/curl.h>

#include "daemon/fetch/transfer/network_options.h"

struct msd_address_check {
	/* Set by the owner, borrowed as long as the handle is used. */
	const struct msd_network_options *reach;
	const struct msd_uri *to;
	/* Private. */
	bool is_barred;  /* no address is allowed: a proxy would hide the address */
	bool is_refused; /* an address was refused */
};

/** Set the options that @easy needs to reach @to under @reach, with the checks of @g.
 */
void msd_address_check_set(struct msd_address_check *g,
			   const struct msd_network_options *reach,
			   const struct msd_uri *to, CURL *easy);
/** Explain the refusal. Returns MSD_REFUSED. */
msd_err msd_address_check_refuse(const struct msd_address_check *g, struct msd_diag *d);

#endif
