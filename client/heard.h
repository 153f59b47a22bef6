#ifndef MSD_CLIENT_HEARD_H
#define MSD_CLIENT_HEARD_H
/*
 * The answers that a connection has heard. One that comes again, with nothing but
 * another id and another time, needs no scan; nor, where its value is small and has
 * neither tensors nor handles, a decoder: the value of the first is copied.
 */
#include "client/modser.h"
#include "proto/recognise.h"

struct msd_heard {
	struct msd_memory answers; /* their plans are struct msd_kept_answer */
};

void msd_heard_init(struct msd_heard *h);
void msd_heard_finish(struct msd_heard *h);
/** The parts of @bytes, in front of @payload_bytes, to @ret. *@ret_known is the one
 * heard before that they are again; NULL: none, and they were scanned. */
MSD_MUST_CHECK msd_err msd_heard_read(struct msd_heard *h, struct msd_span bytes,
				      uint64_t payload_bytes, struct msd_body *ret,
				      const struct msd_known **ret_known,
				      struct msd_diag *d);
/** Make @r, which is nothing yet, what the answer @bytes says that is @known again.
 * False: it is to be decoded. */
bool msd_heard_tell(const struct msd_known *known, struct msd_span bytes,
		    modser_result *r);
/** @bytes were scanned to @body and made @r: both are remembered, if they may be. */
void msd_heard_keep(struct msd_heard *h, struct msd_span bytes, uint64_t payload_bytes,
		    const struct msd_body *body, const modser_result *r);

#endif
