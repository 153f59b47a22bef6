/* TensorScatter. */
#include <inttypes.h>
#include <string.h>

#include "graph/op/attention/params.h"
#include "runtime/kernel/kernels.h"
#include "runtime/value/element.h"

/* One stretch of the axis for each position before it. */
struct cache {
	uint8_t *to;
	const uint8_t *from;
	int64_t room, n; /* extents of the axis in the cache and the update */
	size_t bytes;    /* in one position of the axis */
	bool is_circular;
};

static msd_err put(const struct cache *k, size_t outer, int64_t first,
		   struct msd_diag *d)
{
	if (!k->is_circular && (first < 0 || first > k->room - k->n)) {
		return msd_diag_set(d, MSD_BAD_ARGUMENT,
				    "%" PRId64 " positions at %" PRId64
				    " do not fit in %" PRId64,
				    k->n, first, k->room);
	}
	if (k->n == 0)
		return MSD_OK;
	first = (first % k->room + k->room) % k->room;
	for (int64_t i = 0; i < k->n; i++) {
		const size_t to =
			outer * (size_t)k->room + (size_t)((first + i) % k->room);
		const size_t from = outer * (size_t)k->n + (size_t)i;

		memcpy(k->to + to * k->bytes, k->from + from * k->bytes, k->bytes);
	}
	return MSD_OK;
}

static msd_err run(const struct msd_kernel_call *c, struct msd_diag *d)
{
	const struct msd_params_tensor_scatter p = msd_params_tensor_scatter(c->node);
	const int64_t *dims = msd_kernel_in_dims(c, 0);
	const size_t ndim = msd_kernel_in_ndim(c, 0);
	const size_t axis = msd_kernel_axis(p.axis, ndim);
	const size_t outer = msd_kernel_outer(dims, axis);
	const size_t size = msd_kernel_size(c);
	const struct cache k = {
		.to = c->out[0],
		.from = c->in[1],
		.room = dims[axis],
		.n = msd_kernel_in_dims(c, 1)[axis],
		.bytes = msd_kernel_inner(dims, ndim, axis) * size,
		.is_circular = strcmp(p.mode, "circular") == 0,
	};
	const size_t n = msd_kernel_out_elements(c, 0);
	msd_err err = MSD_OK;

	if (n == 0)
		return MSD_OK;
	memcpy(c->out[0], c->in[0], n * size);
	for (size_t o = 0; err == MSD_OK && o < outer; o++) {
		const int64_t b = (int64_t)(o / (outer / (size_t)dims[0]));
		const int64_t first =
			msd_kernel_has(c, 2)
				? msd_number_load(msd_kernel_in_dtype(c, 2), c->in[2],
						  b)
					  .i
				: 0;

		err = put(&k, o, first, d);
	}
	return err;
}

const struct msd_kernel msd_kernel_tensor_scatter = {"TensorScatter", run,
						     MSD_TAKES_BYTES};
