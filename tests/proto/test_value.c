#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "proto/body.h"
#include "proto/limits.h"
#include "tests/proto/golden.h"
#include "tests/support/exact.h"
#include "tests/support/fail_alloc.h"

/* Read the one value in @b, which is finished. */
static msd_err read_one(struct msd_buf *b, struct msd_wire_value *v)
{
	struct msd_cur c = msd_cur_of((struct msd_span){b->p, b->n});
	msd_err err = msd_value_read(&c, v, NULL);

	if (err == MSD_OK)
		cr_assert(msd_cur_end(&c));
	msd_buf_finish(b);
	return err;
}

static msd_err read_raw(const char *bytes, size_t n, struct msd_wire_value *v)
{
	struct msd_buf b = {0};

	msd_buf_put(&b, bytes, n);
	return read_one(&b, v);
}
#define READ(text, v) read_raw(text, sizeof(text) - 1, v)

Test(value, integers_round_trip_at_every_width)
{
	static const int64_t values[] = {
		0,     1,         127,        128,       255,       256,      65535,
		65536, INT32_MAX, UINT32_MAX, INT64_MAX, -1,        -32,      -33,
		-128,  -129,      -32768,     -32769,    INT32_MIN, INT64_MIN};

	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		struct msd_buf b = {0};
		struct msd_wire_value v;

		msd_pack_int(&b, values[i]);
		cr_assert_eq(read_one(&b, &v), MSD_OK);
		cr_assert_eq(v.kind, MSD_K_INT);
		cr_assert_eq(v.as.i, values[i]);
	}
}

Test(value, wide_spellings_of_small_integers_are_read)
{
	struct msd_wire_value v;

	cr_assert_eq(READ("\xcf\0\0\0\0\0\0\0\x05", &v), MSD_OK);
	cr_assert_eq(v.as.i, 5);
	cr_assert_eq(READ("\xd3\xff\xff\xff\xff\xff\xff\xff\xff", &v), MSD_OK);
	cr_assert_eq(v.as.i, -1);
	cr_assert_eq(READ("\xd1\x00\x07", &v), MSD_OK);
	cr_assert_eq(v.as.i, 7);
}

Test(value, unsigned_beyond_int64_is_a_bad_argument)
{
	struct msd_buf b = {0};
	struct msd_wire_value v;

	msd_pack_uint(&b, (uint64_t)INT64_MAX + 1);
	cr_assert_eq(read_one(&b, &v), MSD_BAD_ARGUMENT);
}

Test(value, floats_of_both_widths_are_read)
{
	struct msd_buf b = {0};
	struct msd_wire_value v;

	msd_pack_float(&b, -0.1);
	cr_assert_eq(read_one(&b, &v), MSD_OK);
	cr_assert_eq(v.as.f, -0.1);
	cr_assert_eq(READ("\xca\x3f\xc0\x00\x00", &v), MSD_OK);
	cr_assert_eq(v.kind, MSD_K_FLOAT);
	cr_assert_eq(v.as.f, 1.5);
	cr_assert_eq(READ("\xca\x7f\xc0\x00\x00", &v), MSD_OK);
	cr_assert(isnan(v.as.f));
}

Test(value, nil_and_bools_are_read)
{
	struct msd_wire_value v;

	cr_assert_eq(READ("\xc0", &v), MSD_OK);
	cr_assert_eq(v.kind, MSD_K_NIL);
	cr_assert_eq(READ("\xc2", &v), MSD_OK);
	cr_assert(v.kind == MSD_K_BOOL && !v.as.b);
	cr_assert_eq(READ("\xc3", &v), MSD_OK);
	cr_assert(v.kind == MSD_K_BOOL && v.as.b);
}

Test(value, every_kind_round_trips_in_order)
{
	struct msd_buf b = golden_every_kind();
	struct msd_body body;
	struct msd_cur c;
	uint32_t n;

	cr_assert_eq(msd_body_read((struct msd_span){b.p, b.n}, NULL, &body, NULL),
		     MSD_OK);
	cr_assert(msd_array_open(body.params, &c, &n));
	cr_assert_eq(n, MSD_K_COUNT);
	for (uint32_t i = 0; i < n; i++) {
		struct msd_wire_value v;

		cr_assert_eq(msd_value_read(&c, &v, NULL), MSD_OK);
		cr_assert_eq(v.kind, i, "%s", msd_kind_name((enum msd_kind)i));
	}
	cr_assert(msd_cur_end(&c));
	msd_buf_finish(&b);
}

Test(value, ext_contents_round_trip)
{
	static const int64_t dim[] = {3, -1};
	struct msd_wire_value v;
	struct msd_buf b = {0};

	msd_pack_dtype(&b, (struct msd_dtype){10, 8, 300});
	cr_assert_eq(read_one(&b, &v), MSD_OK);
	cr_assert(msd_dtype_eq(v.as.dtype, (struct msd_dtype){10, 8, 300}));
	msd_pack_device(&b, (struct msd_device){MSD_DEV_OPENCL, -1});
	cr_assert_eq(read_one(&b, &v), MSD_OK);
	cr_assert(v.as.device.type == MSD_DEV_OPENCL && v.as.device.id == -1);
	msd_pack_shape(&b, dim, 2);
	cr_assert_eq(read_one(&b, &v), MSD_OK);
	cr_assert(v.as.shape.ndim == 2 && v.as.shape.dim[0] == 3 &&
		  v.as.shape.dim[1] == -1);
	msd_pack_handle(&b, MSD_EXT_UPLOAD, (struct msd_handle){1, 0xfffffffeu});
	cr_assert_eq(read_one(&b, &v), MSD_OK);
	cr_assert(v.as.handle.slot == 1 && v.as.handle.generation == 0xfffffffeu);
}

Test(value, objects_round_trip_and_their_keys_become_text)
{
	char key[MSD_MAX_TYPE_KEY_BYTES + 2] = "a\xff\xfez";
	struct msd_wire_value v;
	struct msd_buf b = {0};

	msd_pack_object(&b, (struct msd_handle){4, 5}, true, msd_span_of(key));
	cr_assert_eq(read_one(&b, &v), MSD_OK);
	cr_assert(v.kind == MSD_K_OBJECT && v.as.object.is_function);
	cr_assert(v.as.handle.slot == 4 && v.as.handle.generation == 5);
	msd_pack_object(&b, (struct msd_handle){4, 5}, false, msd_span_of(key));
	struct msd_cur c = msd_cur_of((struct msd_span){b.p, b.n});
	cr_assert_eq(msd_value_read(&c, &v, NULL), MSD_OK);
	cr_assert(msd_span_is(v.as.object.key, "a??z") && !v.as.object.is_function);
	msd_buf_finish(&b);
	memset(key, 'k', sizeof(key) - 1);
	msd_pack_object(&b, (struct msd_handle){4, 5}, false, msd_span_of(key));
	c = msd_cur_of((struct msd_span){b.p, b.n});
	cr_assert_eq(msd_value_read(&c, &v, NULL), MSD_OK);
	cr_assert_eq(v.as.object.key.n, MSD_MAX_TYPE_KEY_BYTES);
	msd_buf_finish(&b);
}

Test(value, map_is_an_array_that_begins_with_the_mark)
{
	struct msd_wire_value v;

	cr_assert_eq(READ("\x93\xc7\x00\x0b\x01\x02", &v), MSD_OK);
	cr_assert(v.kind == MSD_K_MAP && v.as.tuple.n == 1);
	cr_assert_eq(v.as.tuple.items.n, 2);
	cr_assert_eq(READ("\x91\xc8\x00\x00\x0b", &v), MSD_OK);
	cr_assert(v.kind == MSD_K_MAP && v.as.tuple.n == 0);
	cr_assert_eq(READ("\x92\xc7\x00\x0b\x01", &v), MSD_BAD_ARGUMENT,
		     "a key without a value");
	cr_assert_eq(READ("\xc7\x00\x0b", &v), MSD_BAD_ARGUMENT, "outside an array");
	cr_assert_eq(READ("\x92\x01\xc7\x00\x0b", &v), MSD_OK);
	cr_assert_eq(v.kind, MSD_K_TUPLE, "the mark is not the first");
}

Test(value, strings_and_bytes_borrow_from_the_input)
{
	static const char in[] = "\xa2hi\xc4\x01\xff";
	struct msd_cur c =
		msd_cur_of((struct msd_span){(const uint8_t *)in, sizeof(in) - 1});
	struct msd_wire_value v;

	cr_assert_eq(msd_value_read(&c, &v, NULL), MSD_OK);
	cr_assert(v.kind == MSD_K_STR && msd_span_is(v.as.str, "hi"));
	cr_assert_eq((const char *)v.as.str.p, in + 1);
	cr_assert_eq(msd_value_read(&c, &v, NULL), MSD_OK);
	cr_assert(v.kind == MSD_K_BYTES && v.as.str.n == 1);
}

Test(value, a_tuple_gives_its_items)
{
	struct msd_wire_value v, item;

	cr_assert_eq(READ("\x90", &v), MSD_OK);
	cr_assert(v.kind == MSD_K_TUPLE && v.as.tuple.n == 0 &&
		  v.as.tuple.items.n == 0);
	static const char in[] = "\x92\x91\x01\x02";
	struct msd_cur c = msd_cur_of((struct msd_span){(const uint8_t *)in, 4});
	cr_assert_eq(msd_value_read(&c, &v, NULL), MSD_OK);
	cr_assert(v.as.tuple.n == 2 && v.as.tuple.items.n == 3);
	c = msd_cur_of(v.as.tuple.items);
	cr_assert_eq(msd_value_read(&c, &item, NULL), MSD_OK);
	cr_assert_eq(item.kind, MSD_K_TUPLE);
	cr_assert_eq(msd_value_read(&c, &item, NULL), MSD_OK);
	cr_assert_eq(item.as.i, 2);
	cr_assert(msd_cur_end(&c));
}

Test(value, what_is_no_value_is_refused_with_a_reason)
{
	struct msd_wire_value v;

	cr_assert_eq(READ("\x80", &v), MSD_BAD_ARGUMENT);
	cr_assert_eq(READ("\xd7\x09........", &v), MSD_UNSUPPORTED);
	cr_assert_eq(READ("\xd7\x0a........", &v), MSD_BAD_REQUEST);
	cr_assert_eq(READ("\xd6\x02....", &v), MSD_BAD_REQUEST);
}

Test(value, every_prefix_of_unscanned_bytes_is_refused)
{
	static const char in[] =
		"\x93\xd9\x02hi\xcf\0\0\0\0\0\0\0\x05\xc7\x08\x08........";

	for (size_t n = 0; n < sizeof(in) - 1; n++) {
		uint8_t *copy = exact_copy(in, n);
		struct msd_cur c = msd_cur_of((struct msd_span){copy, n});
		struct msd_wire_value v;

		cr_assert_eq(msd_value_read(&c, &v, NULL), MSD_BAD_REQUEST, "%zu bytes",
			     n);
		cr_assert(c.bad);
		free(copy);
	}
}

Test(value, objects_are_taken_whole)
{
	static const char in[] = "\x92\x81\xa1k\x91\x01\xc0";
	struct msd_cur c, pairs;
	struct msd_span object;
	uint32_t n;

	cr_assert(msd_array_open((struct msd_span){(const uint8_t *)in, sizeof(in) - 1},
				 &c, &n));
	cr_assert(msd_object_parse(&c, &object));
	cr_assert_eq(object.n, 5);
	cr_assert(msd_map_open(object, &pairs, &n));
	cr_assert_eq(n, 1);
	cr_assert_not(msd_array_open(object, &pairs, &n));
	cr_assert(msd_object_parse(&c, &object));
	cr_assert_not(msd_object_parse(&c, &object));
}

Test(value, kinds_have_names)
{
	cr_assert_str_eq(msd_kind_name(MSD_K_TENSOR), "tensor");
	cr_assert_str_eq(msd_kind_name(MSD_K_COUNT), "unknown");
	for (int i = 0; i < MSD_K_COUNT; i++)
		cr_assert_not_null(msd_kind_name((enum msd_kind)i));
}

Test(pack, texts_that_are_not_utf8_are_made_so)
{
	struct msd_buf b = {0};
	struct msd_wire_value v;
	struct msd_cur c;

	msd_pack_text(&b, "a\xff\xfe\xc3\xa9z\xe2\x82", 8);
	c = msd_cur_of((struct msd_span){b.p, b.n});
	cr_assert_eq(msd_value_read(&c, &v, NULL), MSD_OK);
	cr_assert(msd_span_is(v.as.str, "a??\xc3\xa9z??"));
	msd_buf_finish(&b);
}

Test(pack, an_error_without_a_wire_number_is_sent_as_internal)
{
	struct msd_wire_value v;
	struct msd_buf b = {0};

	msd_pack_error(&b, MSD_WAIT, "nobody waits");
	struct msd_cur c = msd_cur_of((struct msd_span){b.p, b.n});
	cr_assert_eq(msd_value_read(&c, &v, NULL), MSD_OK);
	c = msd_cur_of(v.as.tuple.items);
	cr_assert_eq(msd_value_read(&c, &v, NULL), MSD_OK);
	cr_expect_eq(v.as.i, MSD_INTERNAL);
	cr_assert_eq(msd_value_read(&c, &v, NULL), MSD_OK);
	cr_expect(msd_span_is(v.as.str, "INTERNAL"));
	msd_buf_finish(&b);
}

Test(pack, too_many_dimensions_make_the_buffer_bad)
{
	static const int64_t dim[MSD_MAX_NDIM + 1] = {0};
	struct msd_wire_tensor t = {.ndim = MSD_MAX_NDIM + 1};
	struct msd_buf a = {0}, b = {0};

	msd_pack_shape(&a, dim, MSD_MAX_NDIM + 1);
	msd_pack_tensor(&b, &t);
	cr_assert(a.bad && b.bad);
}

Test(pack, a_failed_allocation_makes_the_buffer_bad_and_leaks_nothing)
{
	for (long k = 0;; k++) {
		msd_fail_alloc(k);
		struct msd_buf b = golden_every_kind();
		msd_pack_text(&b, "\xff", 1);
		bool failed = msd_fail_alloc_stop();

		cr_assert_eq(b.bad, failed);
		msd_buf_finish(&b);
		if (!failed)
			break;
	}
}
