#ifndef MSD_PROTO_ADDRESS_LIST_H
#define MSD_PROTO_ADDRESS_LIST_H
/*
 * A list of addresses of equivalent daemons, separated by commas:
 * `tcp://a:9190,tcp://b:9190`. A comma that is not followed by an address form is
 * part of a path.
 */
#include "proto/address.h"

#define MSD_ADDRESS_LIST_MAX 16u

struct msd_address_list {
	size_t n; /* at least 1 */
	struct msd_address at[MSD_ADDRESS_LIST_MAX];
};

/**
 * Parse @text, a list of one or more. Errors: MSD_BAD_REQUEST, naming the invalid
 * address, or the maximum number.
 */
MSD_MUST_CHECK msd_err msd_address_list_parse(const char *text,
					      struct msd_address_list *ret,
					      struct msd_diag *d);
/** Length of the first address of @text. */
size_t msd_address_list_first(const char *text);
/** True if an address of @text begins with @form, for example "tcp://". */
bool msd_address_list_has(const char *text, const char *form);

#endif
