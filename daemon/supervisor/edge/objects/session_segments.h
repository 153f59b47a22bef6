#ifndef MSD_SUPERVISOR_SESSION_SEGMENTS_H
#define MSD_SUPERVISOR_SESSION_SEGMENTS_H
/* Client segments of a connection (daemon/supervisor/request/client_segment.h). The
 * connection numbers them from 1 on, and its requests name places in them. */
#include "daemon/supervisor/edge/session/session.h"
#include "proto/value.h"

/**
 * segment.add: make the memfd @fd the segment *@ret of @s. Takes @fd in every case.
 * Errors: MSD_REFUSED (the transport passes no descriptors), MSD_BAD_REQUEST,
 * MSD_BUSY, MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_session_segments_add(struct msd_session *s, int fd,
						uint64_t bytes, uint16_t *ret,
						struct msd_diag *d);
/**
 * segment.remove: remove segment @name of @s. Running requests that use it continue.
 * Errors: MSD_BAD_REQUEST (no such segment).
 */
MSD_MUST_CHECK msd_err msd_session_segments_remove(struct msd_session *s, uint16_t name,
						   struct msd_diag *d);
/** Remove all segments because the session ends. Running requests continue. */
void msd_session_segments_leave(struct msd_session *s);

/* An output in a client segment. */
struct msd_session_segments_place {
	uint16_t name;
	uint64_t offset, bytes;
};

/**
 * Point @t, whose ext data is at @data, from a segment of the client of @r to the
 * number that workers know. An output is added to @places. Errors: MSD_BAD_REQUEST,
 * MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_session_segments_point(struct msd_req *r,
						  const struct msd_wire_tensor *t,
						  uint8_t *data, struct msd_buf *places,
						  struct msd_diag *d);
/** Sort @places and check that no two overlap. Errors: MSD_BAD_REQUEST. */
MSD_MUST_CHECK msd_err msd_session_segments_check_apart(struct msd_buf *places,
							struct msd_diag *d);

#endif
