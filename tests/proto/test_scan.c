/* The limits of the scan: each at its value and one over it. */
#include <criterion/criterion.h>
#include <stdio.h>

#include "proto/body.h"
#include "proto/limits.h"
#include "proto/value.h"
#include "tests/support/exact.h"

/* The code for [0, 1, "call", [<what was appended>]]; takes @params. */
static msd_err scan_request(struct msd_buf *params)
{
	struct msd_buf b = {0};
	struct msd_body body;

	msd_body_begin_request(&b, 1, "call", false);
	msd_buf_put(&b, params->p, params->n);
	cr_assert_not(params->bad || b.bad);
	uint8_t *copy = exact_copy(b.p, b.n);
	msd_err err = msd_body_read((struct msd_span){copy, b.n}, NULL, &body, NULL);
	free(copy);
	msd_buf_finish(&b);
	msd_buf_finish(params);
	return err;
}

static msd_err scan_raw(const char *bytes, size_t n)
{
	struct msd_buf params = {0};

	msd_buf_put(&params, bytes, n);
	return scan_request(&params);
}
#define SCAN(text) scan_raw(text, sizeof(text) - 1)

static msd_err scan_depth(unsigned depth)
{
	struct msd_buf params = {0};

	for (unsigned i = 1; i < depth; i++) /* the body is the first level */
		msd_pack_array(&params, i + 1 < depth ? 1 : 0);
	return scan_request(&params);
}

Test(scan, depth_limit_is_exact)
{
	cr_assert_eq(scan_depth(MSD_MAX_DEPTH), MSD_OK);
	cr_assert_eq(scan_depth(MSD_MAX_DEPTH + 1), MSD_PROTOCOL);
}

Test(scan, a_megabyte_of_nesting_is_refused)
{
	struct msd_buf params = {0};

	for (unsigned i = 0; i < MSD_MAX_BODY_BYTES - 64; i++)
		msd_buf_put_u8(&params, 0x91);
	cr_assert_eq(scan_request(&params), MSD_PROTOCOL);
}

typedef msd_err reader(struct msd_span bytes, const struct msd_ext_visitor *visitor,
		       struct msd_body *ret, struct msd_diag *d);

/* NULL: in a request. */
static msd_err scan_objects(uint32_t n, reader *of_response)
{
	struct msd_buf params = {0};

	msd_pack_array(&params, n);
	for (uint32_t i = 0; i < n; i++)
		msd_pack_nil(&params);
	if (of_response == NULL)
		return scan_request(&params);
	struct msd_buf b = {0};
	struct msd_body body;
	msd_body_begin_response(&b, 1, false);
	msd_pack_nil(&b);
	msd_buf_put(&b, params.p, params.n);
	msd_err err = of_response((struct msd_span){b.p, b.n}, NULL, &body, NULL);
	msd_buf_finish(&params);
	msd_buf_finish(&b);
	return err;
}

Test(scan, objects_limit_of_a_request_is_exact)
{
	uint32_t envelope = 5; /* body, kind, id, method, params */

	cr_assert_eq(scan_objects(MSD_MAX_OBJECTS - envelope, NULL), MSD_OK);
	cr_assert_eq(scan_objects(MSD_MAX_OBJECTS - envelope + 1, NULL), MSD_PROTOCOL);
}

Test(scan, objects_limit_of_a_response_is_exact)
{
	uint32_t envelope = 5; /* body, kind, id, error, result */

	cr_assert_eq(scan_objects(MSD_MAX_REPLY_OBJECTS - envelope, msd_body_read),
		     MSD_OK);
	cr_assert_eq(scan_objects(MSD_MAX_REPLY_OBJECTS - envelope + 1, msd_body_read),
		     MSD_PROTOCOL);
}

#define DOUBTED 128u

static msd_err read_doubted(struct msd_span bytes,
			    const struct msd_ext_visitor *visitor, struct msd_body *ret,
			    struct msd_diag *d)
{
	return msd_body_read_doubted(bytes, visitor, DOUBTED, ret, d);
}

Test(scan, a_doubted_response_has_the_limit_of_who_doubts)
{
	uint32_t envelope = 5;

	cr_assert_eq(scan_objects(DOUBTED - envelope, read_doubted), MSD_OK);
	cr_assert_eq(scan_objects(DOUBTED - envelope + 1, read_doubted), MSD_PROTOCOL);
}

/* A request whose body has exactly @n bytes. */
static msd_err scan_body_bytes(uint32_t n)
{
	struct msd_buf params = {0};
	uint32_t envelope = 1 + 1 + 9 + 5, around = 1 + 5; /* array1, bin32 */
	uint8_t *zeros = calloc(1, n);

	msd_pack_array(&params, 1);
	msd_pack_bin(&params, zeros, n - envelope - around);
	free(zeros);
	return scan_request(&params);
}

Test(scan, body_limit_of_a_request_is_exact)
{
	cr_assert_eq(scan_body_bytes(MSD_MAX_FORWARDED_BODY_BYTES), MSD_OK);
	cr_assert_eq(scan_body_bytes(MSD_MAX_FORWARDED_BODY_BYTES + 1), MSD_PROTOCOL);
}

static msd_err scan_tensors(uint32_t n)
{
	struct msd_wire_tensor t = {
		.where = MSD_AT_OUT, .dtype = {MSD_DT_FLOAT, 32, 1}, .bytes = 4};
	struct msd_buf params = {0};

	msd_pack_array(&params, n);
	for (uint32_t i = 0; i < n; i++)
		msd_pack_tensor(&params, &t);
	return scan_request(&params);
}

Test(scan, tensors_limit_is_exact)
{
	cr_assert_eq(scan_tensors(MSD_MAX_TENSORS), MSD_OK);
	cr_assert_eq(scan_tensors(MSD_MAX_TENSORS + 1), MSD_PROTOCOL);
}

static msd_err scan_pairs(uint32_t n)
{
	struct msd_buf params = {0};
	char key[16];

	msd_pack_array(&params, 1);
	msd_pack_map(&params, n);
	for (uint32_t i = 0; i < n; i++) {
		(void)snprintf(key, sizeof(key), "key%u", i);
		msd_pack_cstr(&params, key);
		msd_pack_nil(&params);
	}
	return scan_request(&params);
}

Test(scan, pairs_limit_is_exact)
{
	cr_assert_eq(scan_pairs(MSD_MAX_MAP_PAIRS), MSD_OK);
	cr_assert_eq(scan_pairs(MSD_MAX_MAP_PAIRS + 1), MSD_PROTOCOL);
}

Test(scan, full_maps_within_full_maps_are_walked)
{
	struct msd_buf params = {0};
	char key[16];

	msd_pack_array(&params, 1);
	for (uint32_t level = 0; level < MSD_MAX_DEPTH - 2; level++) {
		msd_pack_map(&params, MSD_MAX_MAP_PAIRS);
		for (uint32_t i = 0; i < MSD_MAX_MAP_PAIRS; i++) {
			(void)snprintf(key, sizeof(key), "%u", i);
			msd_pack_cstr(&params, key);
			if (i + 1 < MSD_MAX_MAP_PAIRS || level == MSD_MAX_DEPTH - 3) {
				msd_pack_nil(
					&params); /* the last value is the next map */
			}
		}
	}
	cr_assert_eq(scan_request(&params), MSD_OK);
}

Test(scan, huge_counts_are_refused_without_allocation)
{
	cr_assert_eq(SCAN("\xdd\xff\xff\xff\xff"), MSD_PROTOCOL);
	cr_assert_eq(SCAN("\x91\xdd\xff\xff\xff\xff"), MSD_PROTOCOL);
	cr_assert_eq(SCAN("\x91\xdf\xff\xff\xff\xff"), MSD_PROTOCOL);
	cr_assert_eq(SCAN("\x91\xdb\xff\xff\xff\xff"), MSD_PROTOCOL);
	cr_assert_eq(SCAN("\x91\xc6\xff\xff\xff\xff"), MSD_PROTOCOL);
	cr_assert_eq(SCAN("\x91\xc9\xff\xff\xff\xff\x01"), MSD_PROTOCOL);
	cr_assert_eq(SCAN("\x91\xdc\xff\xff"), MSD_PROTOCOL);
}

Test(scan, the_byte_that_msgpack_never_uses_is_refused)
{
	cr_assert_eq(SCAN("\x91\xc1"), MSD_PROTOCOL);
}

Test(scan, map_keys_are_strings_and_unique)
{
	cr_assert_eq(SCAN("\x91\x82\xa1"
			  "a\x01\xa1"
			  "b\x01"),
		     MSD_OK);
	cr_assert_eq(SCAN("\x91\x82\xa1"
			  "a\x01\xa1"
			  "a\x01"),
		     MSD_PROTOCOL);
	cr_assert_eq(SCAN("\x91\x82\xa0\x01\xd9\x00\x01"),
		     MSD_PROTOCOL); /* two spellings */
	cr_assert_eq(SCAN("\x91\x81\x01\x01"), MSD_PROTOCOL);
	cr_assert_eq(SCAN("\x91\x81\x90\x01"), MSD_PROTOCOL);
}

/* A map of @n pairs, whose keys are numbered of @digits digits, but for one: the key at
 * @second is the one at @first. */
static msd_err scan_twice(uint32_t n, int digits, uint32_t first, uint32_t second)
{
	struct msd_buf params = {0};
	char key[64];

	msd_pack_array(&params, 1);
	msd_pack_map(&params, n);
	for (uint32_t i = 0; i < n; i++) {
		(void)snprintf(key, sizeof(key), "%0*u", digits,
			       i == second ? first : i);
		msd_pack_cstr(&params, key);
		msd_pack_nil(&params);
	}
	return scan_request(&params);
}

Test(scan, keys_of_maps_of_any_size_are_unique)
{
	for (uint32_t n = 2; n <= MSD_MAX_MAP_PAIRS; n++) {
		const int digits = 2 + (int)n % 30;
		cr_expect_eq(scan_twice(n, digits, 0, 0), MSD_OK, "%u", n);
		for (uint32_t i = 1; i < n; i++) {
			cr_expect_eq(scan_twice(n, digits, i - 1, i), MSD_PROTOCOL);
			cr_expect_eq(scan_twice(n, digits, 0, i), MSD_PROTOCOL);
		}
	}
}

Test(scan, equal_keys_of_different_maps_are_fine)
{
	cr_assert_eq(SCAN("\x92\x81\xa1"
			  "a\x81\xa1"
			  "a\x01\x81\xa1"
			  "a\x01"),
		     MSD_OK);
}

Test(scan, a_key_after_a_nested_map_is_still_compared)
{
	cr_assert_eq(SCAN("\x91\x82\xa1"
			  "a\x81\xa1"
			  "b\x01\xa1"
			  "a\x01"),
		     MSD_PROTOCOL);
}

Test(scan, strings_are_utf8_and_bytes_are_anything)
{
	cr_assert_eq(SCAN("\x91\xa2\xc3\xa9"), MSD_OK);
	cr_assert_eq(SCAN("\x91\xa1\xff"), MSD_PROTOCOL);
	cr_assert_eq(SCAN("\x91\xc4\x01\xff"), MSD_OK);
}

Test(scan, unknown_ext_types_are_refused)
{
	cr_assert_eq(SCAN("\x91\xd7\x0a........"), MSD_PROTOCOL);
	cr_assert_eq(SCAN("\x91\xd7\x00........"), MSD_PROTOCOL);
	cr_assert_eq(SCAN("\x91\xd6\xff...."), MSD_PROTOCOL); /* msgpack's timestamp */
}

static msd_err scan_ext(int8_t type, size_t n, uint8_t ndim)
{
	uint8_t data[512] = {[3] = ndim};
	struct msd_buf params = {0};

	msd_buf_put(&params, "\x91\xc8", 2);
	msd_buf_put_u8(&params, (uint8_t)(n >> 8));
	msd_buf_put_u8(&params, (uint8_t)n);
	msd_buf_put_u8(&params, (uint8_t)type);
	msd_buf_put(&params, data, n);
	return scan_request(&params);
}

Test(scan, ext_lengths_are_exact)
{
	static const struct {
		int8_t type;
		size_t n;
	} fixed[] = {{MSD_EXT_FUNCTION, 8}, {MSD_EXT_MODULE, 8}, {MSD_EXT_INSTANCE, 8},
		     {MSD_EXT_UPLOAD, 8},   {MSD_EXT_DTYPE, 4},  {MSD_EXT_DEVICE, 8}};

	for (size_t i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++) {
		cr_assert_eq(scan_ext(fixed[i].type, fixed[i].n, 0), MSD_OK, "row %zu",
			     i);
		cr_assert_eq(scan_ext(fixed[i].type, fixed[i].n - 1, 0), MSD_PROTOCOL);
		cr_assert_eq(scan_ext(fixed[i].type, fixed[i].n + 1, 0), MSD_PROTOCOL);
		cr_assert_eq(scan_ext(fixed[i].type, 0, 0), MSD_PROTOCOL);
	}
}

Test(scan, result_of_has_an_id_and_a_short_path)
{
	cr_assert_eq(scan_ext(MSD_EXT_RESULT_OF, 8, 0), MSD_OK);
	cr_assert_eq(scan_ext(MSD_EXT_RESULT_OF, 8 + 4 * MSD_MAX_RESULT_PATH, 0),
		     MSD_OK);
	cr_assert_eq(scan_ext(MSD_EXT_RESULT_OF, 12 + 4 * MSD_MAX_RESULT_PATH, 0),
		     MSD_PROTOCOL);
	for (size_t n = 0; n < 8; n++)
		cr_assert_eq(scan_ext(MSD_EXT_RESULT_OF, n, 0), MSD_PROTOCOL);
	for (size_t n = 9; n < 12; n++)
		cr_assert_eq(scan_ext(MSD_EXT_RESULT_OF, n, 0), MSD_PROTOCOL);
}

Test(scan, object_has_a_short_key_and_a_map_mark_nothing)
{
	cr_assert_eq(scan_ext(MSD_EXT_OBJECT, MSD_WIRE_OBJECT_BYTES, 0), MSD_OK);
	cr_assert_eq(scan_ext(MSD_EXT_OBJECT,
			      MSD_WIRE_OBJECT_BYTES + MSD_MAX_TYPE_KEY_BYTES, 0),
		     MSD_OK);
	cr_assert_eq(scan_ext(MSD_EXT_OBJECT,
			      MSD_WIRE_OBJECT_BYTES + MSD_MAX_TYPE_KEY_BYTES + 1, 0),
		     MSD_PROTOCOL);
	for (size_t n = 0; n < MSD_WIRE_OBJECT_BYTES; n++)
		cr_assert_eq(scan_ext(MSD_EXT_OBJECT, n, 0), MSD_PROTOCOL);
	cr_assert_eq(scan_ext(MSD_EXT_MAP, 0, 0), MSD_OK);
	cr_assert_eq(scan_ext(MSD_EXT_MAP, 1, 0), MSD_PROTOCOL);
}

Test(scan, shape_and_tensor_lengths_follow_their_dimensions)
{
	cr_assert_eq(scan_ext(MSD_EXT_SHAPE, 0, 0), MSD_OK);
	cr_assert_eq(scan_ext(MSD_EXT_SHAPE, 8 * MSD_MAX_NDIM, 0), MSD_OK);
	cr_assert_eq(scan_ext(MSD_EXT_SHAPE, 8 * MSD_MAX_NDIM + 8, 0), MSD_PROTOCOL);
	cr_assert_eq(scan_ext(MSD_EXT_SHAPE, 12, 0), MSD_PROTOCOL);
	cr_assert_eq(scan_ext(MSD_EXT_TENSOR, 32, 0), MSD_OK);
	cr_assert_eq(scan_ext(MSD_EXT_TENSOR, 31, 0), MSD_PROTOCOL);
	cr_assert_eq(scan_ext(MSD_EXT_TENSOR, 40, 0), MSD_PROTOCOL);
	cr_assert_eq(scan_ext(MSD_EXT_TENSOR, 48, 2), MSD_OK);
	cr_assert_eq(scan_ext(MSD_EXT_TENSOR, 32 + 8 * 32, 32), MSD_OK);
	cr_assert_eq(scan_ext(MSD_EXT_TENSOR, 32 + 8 * 33, 33), MSD_PROTOCOL);
}

Test(scan, one_object_reports_its_bytes_and_leaves_the_rest)
{
	struct msd_diag d = {0};
	size_t n = 0;

	cr_assert_eq(msd_scan_object(
			     (struct msd_span){(const uint8_t *)"\x92\x01\x02\x03", 4},
			     NULL, &n, &d),
		     MSD_OK);
	cr_assert_eq(n, 3);
	cr_assert_eq(msd_scan_object((struct msd_span){0}, NULL, &n, &d), MSD_PROTOCOL);
	msd_diag_finish(&d);
}
