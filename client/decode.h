#ifndef MSD_CLIENT_DECODE_H
#define MSD_CLIENT_DECODE_H

#include "client/modser.h"
#include "proto/base/bytes.h"
#include "proto/base/diag.h"
/* Decodes the msgpack of a response into a tree of modser_value. */

/* A tensor of the tree with its data in the frame's payload, or in a client segment. */
struct msd_inline {
	modser_value *value; /* in the result's tree; data is NULL until it is placed */
	uint64_t offset;     /* offset in the payload, or in the segment */
	uint16_t segment;    /* 0: in the payload */
};

struct msd_decoded {
	struct msd_inline *tensors; /* owned, in the order of the body; may be NULL */
	size_t n_tensors;
};

/**
 * Decode @object (already scanned by msd_body_read()) into @r's root and tree. The
 * caller frees @ret->tensors, also on failure. Errors: MSD_NOMEM; MSD_PROTOCOL for a
 * value that clients do not support.
 */
MSD_MUST_CHECK msd_err msd_decode(struct msd_span object, modser_result *r,
				  struct msd_decoded *ret, struct msd_diag *d);

#endif
