/* segment.add and segment.remove: client segments of a connection. */
#include "daemon/loop/closer.h"
#include "daemon/supervisor/edge/methods/method.h"
#include "daemon/supervisor/edge/objects/session_segments.h"
#include "daemon/supervisor/edge/session/frame_session.h"
#include "proto/unpack.h"

/* The descriptor is taken even if the parameters are wrong: it was sent with this
 * request. */
msd_err msd_method_segment_add(struct msd_method_call *c, struct msd_diag *d)
{
	const int fd = msd_conn_adopt_fd(&msd_frame_session_of(c->session)->conn);
	uint16_t name = 0;
	uint64_t bytes = 0;
	msd_err err = msd_object_uint(&c->params->via.array.ptr[0], "bytes", INT64_MAX,
				      &bytes, d);

	if (err != MSD_OK) {
		msd_closer_close_passed(fd, c->session->transport->passer);
		return err;
	}
	err = msd_session_segments_add(c->session, fd, bytes, &name, d);
	if (err != MSD_OK)
		return msd_diag_wrap(d, err, "segment.add");
	msd_pack_uint(&c->result, name);
	return MSD_OK;
}

msd_err msd_method_segment_remove(struct msd_method_call *c, struct msd_diag *d)
{
	uint64_t name = 0;
	msd_err err = msd_object_uint(&c->params->via.array.ptr[0], "number",
				      UINT16_MAX, &name, d);

	if (err == MSD_OK)
		err = msd_session_segments_remove(c->session, (uint16_t)name, d);
	if (err != MSD_OK)
		return msd_diag_wrap(d, err, "segment.remove");
	msd_pack_nil(&c->result);
	return MSD_OK;
}
