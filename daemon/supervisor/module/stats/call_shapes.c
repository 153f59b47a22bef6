#include "daemon/supervisor/module/stats/call_shapes.h"

#include <stdio.h>
#include <string.h>

#include "proto/dtype.h"
#include "proto/type_text.h"
#include "proto/value.h"

static const char *const dots = "...";

static void put_tensor(struct msd_buf *b, struct msd_span data)
{
	struct msd_wire_tensor t;
	char dtype[MSD_DTYPE_NAME_MAX];

	if (msd_wire_tensor_read(data.p, data.n, &t, NULL) != MSD_OK)
		return;
	msd_buf_printf(b, "%s%s",
		       t.where == MSD_AT_OUT        ? "out:"
		       : t.where == MSD_AT_RESIDENT ? "resident:"
						    : "",
		       msd_dtype_format(t.dtype, dtype));
	msd_shape_put(b, t.shape, t.ndim, ", ");
}

static void put_value(struct msd_buf *b, const struct msd_wire_value *v)
{
	if (v->kind == MSD_K_TENSOR) {
		put_tensor(b, v->as.tensor);
	} else if (v->kind == MSD_K_STR || v->kind == MSD_K_BYTES) {
		msd_buf_printf(b, "%s(%zu)", msd_kind_name(v->kind), v->as.str.n);
	} else if (v->kind == MSD_K_TUPLE) {
		msd_buf_printf(b, "tuple(%u)", v->as.tuple.n);
	} else {
		msd_buf_printf(b, "%s", msd_kind_name(v->kind));
	}
}

const char *msd_call_shapes_text(struct msd_span params,
				 char ret[MSD_CALL_SHAPES_BYTES])
{
	struct msd_cur c = msd_cur_of(params);
	struct msd_buf b = {0};
	struct msd_wire_value v;

	ret[0] = '\0';
	if (params.n == 0 || msd_value_read(&c, &v, NULL) != MSD_OK ||
	    v.kind != MSD_K_TUPLE)
		return ret;
	const uint32_t n = v.as.tuple.n;
	c = msd_cur_of(v.as.tuple.items);
	for (uint32_t i = 0; i < n && b.n < MSD_CALL_SHAPES_BYTES; i++) {
		if (msd_value_read(&c, &v, NULL) != MSD_OK)
			break;
		if (i > 1)
			msd_buf_printf(&b, ", ");
		if (i > 0)
			put_value(&b, &v);
	}
	const bool is_whole = b.n < MSD_CALL_SHAPES_BYTES;
	const int n_kept =
		(int)(is_whole ? b.n : MSD_CALL_SHAPES_BYTES - 1 - strlen(dots));
	if (b.n > 0) {
		(void)snprintf(ret, MSD_CALL_SHAPES_BYTES, "%.*s%s", n_kept,
			       (const char *)b.p, is_whole ? "" : dots);
	}
	msd_buf_finish(&b);
	return ret;
}
