#ifndef MSD_SUPERVISOR_LENT_H
#define MSD_SUPERVISOR_LENT_H
/*
 * The segments that a connection lends (daemon/supervisor/request/loan.h): it knows
 * them by numbers of its own, from 1 on, and its requests name places in them.
 */
#include "daemon/supervisor/edge/session.h"
#include "proto/value.h"

/** segment.add: the memfd @fd, which is taken in every case, is @s's segment *@ret from
 * here on. Errors: MSD_REFUSED (no descriptor can come this way), MSD_BAD_REQUEST,
 * MSD_BUSY, MSD_NOMEM. */
MSD_MUST_CHECK msd_err msd_lent_add(struct msd_session *s, int fd, uint64_t bytes,
				    uint16_t *ret, struct msd_diag *d);
/** segment.remove: @s has no segment @name any more; what names it already runs on.
 * MSD_BAD_REQUEST: it had none. */
MSD_MUST_CHECK msd_err msd_lent_remove(struct msd_session *s, uint16_t name,
				       struct msd_diag *d);
/** The session ends: the same of all. */
void msd_lent_leave(struct msd_session *s);

/* A place that the callee is to fill. */
struct msd_lent_place {
	uint16_t name;
	uint64_t offset, bytes;
};

/** @t, whose ext data is at @data, lies in a segment of @r's client: point it to the
 * number that workers know, and add it to @places if it is to be filled. Errors:
 * MSD_BAD_REQUEST, MSD_NOMEM. */
MSD_MUST_CHECK msd_err msd_lent_point(struct msd_req *r,
				      const struct msd_wire_tensor *t, uint8_t *data,
				      struct msd_buf *places, struct msd_diag *d);
/** No two of @places, which are put in order, may overlap: MSD_BAD_REQUEST. */
MSD_MUST_CHECK msd_err msd_lent_check_apart(struct msd_buf *places, struct msd_diag *d);

#endif
