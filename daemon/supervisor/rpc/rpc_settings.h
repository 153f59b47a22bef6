#ifndef MSD_SUPERVISOR_RPC_SETTINGS_H
#define MSD_SUPERVISOR_RPC_SETTINGS_H
/* The value of --tvm-rpc:
 * HOST:PORT[,key=WORD|,key=@FILE][,tracker=HOST:PORT[,as=ADDRESS]][,sessions=N]. */
#include "proto/address.h"
#include "proto/base/bytes.h"
#include "proto/base/diag.h"

#define MSD_RPC_SESSIONS 16u /* at a time, without sessions=N */
#define MSD_RPC_TRACKER_SESSIONS                                                       \
	1u /* the same with a tracker: measurements disturb each other */
#define MSD_RPC_MOST_SESSIONS 1024u
#define MSD_RPC_KEY_BYTES 256u

struct msd_rpc_settings {
	const char *text; /* NULL: the option is not given */
	struct msd_address address;
	char key[MSD_RPC_KEY_BYTES + 1];   /* "": none; "@FILE" as given */
	struct msd_address tracker;        /* port 0: none */
	char as[MSD_ADDRESS_HOST_MAX + 1]; /* own address for its clients; "": the one
					      that the tracker sees */
	uint32_t sessions;
};

/** Read the option's value; @text must outlive @ret. Errors: MSD_BAD_REQUEST. */
MSD_MUST_CHECK msd_err msd_rpc_settings_read(const char *text,
					     struct msd_rpc_settings *ret,
					     struct msd_diag *d);
/**
 * Replace a key "@FILE" by the first line of the file. Errors: MSD_BAD_REQUEST (it
 * cannot be read, or has no key).
 */
MSD_MUST_CHECK msd_err msd_rpc_settings_read_key(struct msd_rpc_settings *s,
						 struct msd_diag *d);
/**
 * True if a client's key @given is @key. The time does not depend on where they differ.
 */
bool msd_rpc_key_is(const char *key, struct msd_span given);

#endif
