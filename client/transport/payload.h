#ifndef MSD_CLIENT_PAYLOAD_H
#define MSD_CLIENT_PAYLOAD_H
/* The payload of the response that is being received, and the chunks of its
 * destinations. */
#include "client/modser.h"
#include "client/ticket.h"

/**
 * Decode @object into @t's result, and cut the payload into chunks for its tensors.
 * Errors: MSD_PROTOCOL; if memory runs out, the result becomes an error.
 */
MSD_MUST_CHECK msd_err msd_client_read_result(modser_client *c, struct msd_ticket *t,
					      struct msd_span object);
/** Discard the whole payload. Errors: MSD_NOMEM. */
MSD_MUST_CHECK msd_err msd_client_skip_payload(modser_client *c);

#endif
