/* module.plan: how the nodes of a framework's model run, page by page. */
#include "daemon/worker/handlers.h"
#include "proto/value.h"
#include "runtime/load/loaded.h"

/* [name, {from?}?]: the supervisor has checked that it is this module's name. */
static msd_err read_from(const struct msd_request *r, uint64_t *ret, struct msd_diag *d)
{
	struct msd_wire_value v;
	struct msd_span map, from;
	struct msd_cur c, pairs;
	uint32_t n, n_pairs;

	*ret = 0;
	if (!msd_array_open(r->params, &c, &n) || n < 1 || n > 2 ||
	    msd_value_read(&c, &v, d) != MSD_OK)
		return MSD_BAD_REQUEST;
	if (n == 1)
		return MSD_OK;
	if (!msd_object_parse(&c, &map) || !msd_map_open(map, &pairs, &n_pairs))
		return MSD_BAD_REQUEST;
	from = msd_map_value(map, "from");
	if (n_pairs != (from.n > 0)) /* another key, or a key twice */
		return MSD_BAD_REQUEST;
	if (n_pairs == 0)
		return MSD_OK;
	c = msd_cur_of(from);
	if (msd_value_read(&c, &v, d) != MSD_OK || v.kind != MSD_K_INT || v.as.i < 0)
		return MSD_BAD_REQUEST;
	*ret = (uint64_t)v.as.i;
	return MSD_OK;
}

msd_err msd_handle_plan(struct msd_worker *w, struct msd_request *r,
			struct msd_buf *out, struct msd_diag *d)
{
	uint64_t from;

	if (read_from(r, &from, d) != MSD_OK) {
		return msd_diag_set(
			d, MSD_BAD_REQUEST,
			"module.plan: expected [name] or [name, {from: row}]");
	}
	msd_body_begin_response(out, r->id, false);
	msd_pack_nil(out);
	const msd_err err = msd_loaded_plan(w->module, from, out, d);
	return err == MSD_OK ? err : msd_diag_wrap(d, err, "module %s", w->name);
}
