/* segment.add and segment.remove: client segments of a connection. */
#include "daemon/supervisor/edge/framed.h"
#include "daemon/supervisor/edge/lent.h"
#include "daemon/supervisor/edge/method.h"
#include "daemon/wire/aside.h"
#include "proto/unpack.h"

/* The descriptor is taken even if the parameters are wrong: it was sent with this
 * request. */
msd_err msd_method_segment_add(struct msd_method_call *c, struct msd_diag *d)
{
	const int fd = msd_conn_take_fd(&msd_framed_of(c->session)->conn);
	uint16_t name = 0;
	uint64_t bytes = 0;
	msd_err err = msd_object_uint(&c->params->via.array.ptr[0], "bytes", INT64_MAX,
				      &bytes, d);

	if (err != MSD_OK) {
		msd_aside_close_passed(fd, c->session->transport->passer);
		return err;
	}
	err = msd_lent_add(c->session, fd, bytes, &name, d);
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
		err = msd_lent_remove(c->session, (uint16_t)name, d);
	if (err != MSD_OK)
		return msd_diag_wrap(d, err, "segment.remove");
	msd_pack_nil(&c->result);
	return MSD_OK;
}
