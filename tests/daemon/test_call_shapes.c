#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "daemon/supervisor/module/stats/call_shapes.h"
#include "proto/value.h"

static void put_tensor(struct msd_buf *b, enum msd_where where, uint32_t ndim,
		       const int64_t *shape)
{
	struct msd_wire_tensor t = {.where = where,
				    .dtype = {MSD_DT_FLOAT, 32, 1},
				    .bytes = 4,
				    .ndim = ndim};

	for (uint32_t i = 0; i < ndim; i++) {
		t.shape[i] = shape[i];
		t.bytes *= (uint64_t)shape[i];
	}
	msd_pack_tensor(b, &t);
}

static struct msd_span span_of(const struct msd_buf *b)
{
	return (struct msd_span){b->p, b->n};
}

Test(call_shapes, arguments_are_told_by_their_shapes)
{
	const int64_t shape[] = {1, 784};
	char text[MSD_CALL_SHAPES_BYTES];
	struct msd_buf b = {0};

	msd_pack_array(&b, 5);
	msd_pack_cstr(&b, "digits:main");
	put_tensor(&b, MSD_AT_INLINE, 2, shape);
	msd_pack_uint(&b, 3);
	msd_pack_cstr(&b, "secret");
	put_tensor(&b, MSD_AT_OUT, 1, shape);
	cr_expect_str_eq(msd_call_shapes_text(span_of(&b), text),
			 "float32[1, 784], int, str(6), out:float32[1]");
	for (size_t n = 0; n < b.n; n++) { /* no prefix is read beyond its end */
		cr_expect_lt(
			strlen(msd_call_shapes_text((struct msd_span){b.p, n}, text)),
			MSD_CALL_SHAPES_BYTES);
	}
	msd_buf_finish(&b);
}

Test(call_shapes, many_arguments_are_cut)
{
	char text[MSD_CALL_SHAPES_BYTES];
	struct msd_buf b = {0};

	msd_pack_array(&b, 1001);
	for (unsigned i = 0; i < 1001; i++)
		msd_pack_uint(&b, i);
	(void)msd_call_shapes_text(span_of(&b), text);
	cr_expect_eq(strlen(text), MSD_CALL_SHAPES_BYTES - 1);
	cr_expect_str_eq(text + strlen(text) - 3, "...");
	msd_buf_finish(&b);
}

Test(call_shapes, params_that_were_not_kept_have_no_shapes)
{
	char text[MSD_CALL_SHAPES_BYTES];

	cr_expect_str_eq(msd_call_shapes_text((struct msd_span){0}, text), "");
}
