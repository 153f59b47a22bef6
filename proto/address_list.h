#ifndef MSD_PROTO_ADDRESS_LIST_H
#define MSD_PROTO_ADDRESS_LIST_H
/*
 * Addresses of daemons that do the same, as a client is given them: with a comma
 * between two, `tcp://a:9190,tcp://b:9190`. A comma that no form of an address follows
 * belongs to the path that it stands in.
 */
#include "proto/address.h"

#define MSD_ADDRESS_LIST_MAX 16u

struct msd_address_list {
	size_t n; /* 1 at least */
	struct msd_address at[MSD_ADDRESS_LIST_MAX];
};

/**
 * Parse @text, a list of one or more. Errors: MSD_BAD_REQUEST, naming the address that
 * is wrong, or how many there may be.
 */
MSD_MUST_CHECK msd_err msd_address_list_parse(const char *text,
					      struct msd_address_list *ret,
					      struct msd_diag *d);
/** How many bytes of @text its first address has. */
size_t msd_address_list_first(const char *text);
/** One of those in @text begins with @form, "tcp://" say. */
bool msd_address_list_has(const char *text, const char *form);

#endif
