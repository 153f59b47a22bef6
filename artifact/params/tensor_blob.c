#include "artifact/params/tensor_blob.h"

#include <inttypes.h>
#include <stdlib.h>

#define TENSOR_MAGIC 0xDD5E40F096B4A13Full

static msd_err bad(struct msd_diag *d, const char *what)
{
	return msd_diag_set(d, MSD_BAD_ARTIFACT, "saved tensor: %s", what);
}

static msd_err read_shape(struct msd_cur *c, struct msd_tensor_blob *t,
			  uint64_t *ret_elements, struct msd_diag *d)
{
	int32_t ndim = msd_cur_i32(c);
	const uint8_t *dtype = msd_cur_read(c, 4);

	if (dtype == NULL)
		return bad(d, "truncated");
	if (ndim < 0 || ndim > (int32_t)MSD_MAX_NDIM) {
		return msd_diag_set(d, MSD_BAD_ARTIFACT,
				    "saved tensor: %" PRId32
				    " dimensions; expected 0 to %d",
				    ndim, MSD_MAX_NDIM);
	}
	t->ndim = (uint32_t)ndim;
	t->dtype = (struct msd_dtype){dtype[0], dtype[1], msd_le16(dtype + 2)};
	uint64_t n = 1;
	bool is_empty = false;
	for (uint32_t i = 0; i < t->ndim; i++) {
		t->shape[i] = msd_cur_i64(c);
		if (t->shape[i] < 0)
			return bad(d, "a negative extent");
		is_empty |= t->shape[i] == 0;
		/* Extents of an empty tensor may be anything. */
		if (__builtin_mul_overflow(n, (uint64_t)t->shape[i], &n) && !is_empty)
			n = UINT64_MAX;
	}
	*ret_elements = is_empty ? 0 : n;
	return c->bad ? bad(d, "truncated") : MSD_OK;
}

msd_err msd_tensor_blob_read(struct msd_cur *c, struct msd_tensor_blob *ret,
			     struct msd_diag *d)
{
	struct msd_tensor_blob t = {0};
	uint64_t n = 0;
	uint64_t expected;
	uint64_t magic = msd_cur_u64(c);

	(void)msd_cur_u64(c); /* reserved */
	int32_t device = msd_cur_i32(c);
	(void)msd_cur_i32(c); /* ordinal */
	if (c->bad)
		return bad(d, "truncated");
	if (magic != TENSOR_MAGIC)
		return bad(d, "it does not start with the magic of one");
	if (device != MSD_DEV_CPU)
		return bad(d, "it does not lie in host memory");
	msd_err err = read_shape(c, &t, &n, d);
	if (err != MSD_OK)
		return err;
	uint64_t bytes = msd_cur_u64(c);
	/* TVM stores whole bytes per element and ignores lanes. */
	uint64_t element = (t.dtype.bits + 7u) / 8u;
	if (element == 0 || t.dtype.lanes != 1)
		return bad(d, "an element type that TVM does not save");
	if (c->bad || __builtin_mul_overflow(n, element, &expected) ||
	    bytes != expected)
		return bad(d, "its size does not follow from its shape");
	const uint8_t *p = msd_cur_read(c, bytes > SIZE_MAX ? SIZE_MAX : (size_t)bytes);
	if (p == NULL)
		return bad(d, "truncated");
	t.data = (struct msd_span){p, (size_t)bytes};
	*ret = t;
	return MSD_OK;
}

struct msd_tensor_blob *msd_tensor_blob_copy(const struct msd_tensor_blob *t,
					     struct msd_diag *d)
{
	struct msd_tensor_blob *copy = malloc(sizeof(*copy));

	if (copy == NULL) {
		(void)msd_diag_set(d, MSD_NOMEM, "out of memory for the parameters");
	} else {
		*copy = *t;
	}
	return copy;
}
