#include <criterion/criterion.h>
#include <string.h>

#include "daemon/supervisor/edge/session/request_options.h"

static struct msd_request_options got;

/* Read the map in @b, which is given up. */
static msd_err read_map(struct msd_buf *b, enum msd_method method, struct msd_diag *d)
{
	msd_err err = msd_request_options_read((struct msd_span){b->p, b->n}, method,
					       &got, d);

	msd_buf_finish(b);
	return err;
}

static msd_err read_uint(const char *key, uint64_t value, enum msd_method method)
{
	struct msd_buf b = {0};

	msd_pack_map(&b, 1);
	msd_pack_cstr(&b, key);
	msd_pack_uint(&b, value);
	return read_map(&b, method, NULL);
}

static msd_err read_str(const char *key, const char *value, enum msd_method method)
{
	struct msd_buf b = {0};

	msd_pack_map(&b, 1);
	msd_pack_cstr(&b, key);
	msd_pack_cstr(&b, value);
	return read_map(&b, method, NULL);
}

Test(request_options, none_are_none)
{
	struct msd_buf b = {0};

	cr_assert_eq(read_map(&b, MSD_M_CALL, NULL), MSD_OK);
	cr_expect(!got.has_deadline && !got.has_instance && got.device.type == 0 &&
		  got.names.n == 0);
}

Test(request_options, deadline_of_0_has_passed_and_is_one)
{
	cr_assert_eq(read_uint("deadline_ms", 0, MSD_M_PING), MSD_OK);
	cr_expect(got.has_deadline);
	cr_expect_eq(got.deadline_ms, 0);
	cr_assert_eq(read_uint("deadline_ms", UINT32_MAX, MSD_M_CALL), MSD_OK);
	cr_expect_eq(got.deadline_ms, UINT32_MAX);
}

Test(request_options, deadline_that_is_no_time_is_refused)
{
	struct msd_buf b = {0};

	cr_expect_eq(read_uint("deadline_ms", 1ull << 32, MSD_M_CALL), MSD_BAD_REQUEST);
	cr_expect_eq(read_uint("deadline_ms", UINT64_MAX, MSD_M_CALL), MSD_BAD_REQUEST);
	cr_expect_eq(read_str("deadline_ms", "1", MSD_M_CALL), MSD_BAD_REQUEST);
	msd_pack_map(&b, 1);
	msd_pack_cstr(&b, "deadline_ms");
	msd_pack_int(&b, -1);
	cr_expect_eq(read_map(&b, MSD_M_CALL, NULL), MSD_BAD_REQUEST);
}

Test(request_options, all_of_a_call_are_read_together)
{
	struct msd_buf b = {0};

	msd_pack_map(&b, 5);
	msd_pack_cstr(&b, "instance");
	msd_pack_handle(&b, MSD_EXT_INSTANCE, (struct msd_handle){3, 4});
	msd_pack_cstr(&b, "names");
	msd_pack_array(&b, 1);
	msd_pack_cstr(&b, "x");
	msd_pack_cstr(&b, "trace");
	msd_pack_bool(&b, true);
	msd_pack_cstr(&b, "device");
	msd_pack_cstr(&b, "cpu");
	msd_pack_cstr(&b, "deadline_ms");
	msd_pack_uint(&b, 7);
	cr_assert_eq(read_map(&b, MSD_M_CALL, NULL), MSD_OK);
	cr_expect(got.has_instance && got.instance.slot == 3 &&
		  got.instance.generation == 4);
	cr_expect_eq(got.names.n, 3, "an array of one str of one letter");
	cr_expect_eq(got.device.type, MSD_DEV_CPU);
	cr_expect(got.has_deadline && got.deadline_ms == 7);
}

Test(request_options, unknown_ones_are_named_with_what_is_known)
{
	struct msd_diag d = {0};
	struct msd_buf b = {0};

	msd_pack_map(&b, 1);
	msd_pack_cstr(&b, "shiny");
	msd_pack_uint(&b, 1);
	cr_expect_eq(read_map(&b, MSD_M_PING, &d), MSD_UNKNOWN_OPTION);
	cr_expect_str_eq(msd_diag_text(&d),
			 "options: \"shiny\" is unknown; known: deadline_ms, trace, "
			 "promised");
	msd_diag_finish(&d);
}

Test(request_options, of_a_call_are_not_those_of_other_methods)
{
	struct msd_buf b = {0};

	cr_expect_eq(read_str("device", "cpu", MSD_M_PING), MSD_UNKNOWN_OPTION);
	cr_expect_eq(read_str("device", "cpu", MSD_M_TENSOR_ALLOC), MSD_OK);
	msd_pack_map(&b, 1);
	msd_pack_cstr(&b, "names");
	msd_pack_array(&b, 0);
	cr_expect_eq(read_map(&b, MSD_M_TENSOR_ALLOC, NULL), MSD_BAD_REQUEST);
}

Test(request_options, unordered_is_what_it_says)
{
	struct msd_request_options o;

	for (unsigned on = 0; on < 2; on++) {
		struct msd_buf b = {0};
		msd_pack_map(&b, 1);
		msd_pack_cstr(&b, "unordered");
		msd_pack_bool(&b, on);
		cr_assert_eq(msd_request_options_read((struct msd_span){b.p, b.n},
						      MSD_M_CALL, &o, NULL),
			     MSD_OK);
		cr_expect_eq(o.is_unordered, on);
		msd_buf_finish(&b);
	}
}

Test(request_options, abandon_says_whether_the_worker_is_killed)
{
	cr_assert_eq(read_str("abandon", "kill", MSD_M_CALL), MSD_OK);
	cr_expect(got.kills_at_leave);
	cr_assert_eq(read_str("abandon", "run", MSD_M_CALL), MSD_OK);
	cr_expect_not(got.kills_at_leave);
	cr_expect_eq(read_str("abandon", "stop", MSD_M_CALL), MSD_BAD_REQUEST);
	cr_expect_eq(read_str("abandon", "kill", MSD_M_TENSOR_ALLOC), MSD_BAD_REQUEST);
	cr_expect_eq(read_str("abandon", "kill", MSD_M_PING), MSD_UNKNOWN_OPTION);
}

Test(request_options, trace_is_what_it_says)
{
	struct msd_buf b = {0};

	for (unsigned wanted = 0; wanted < 2; wanted++) {
		msd_pack_map(&b, 1);
		msd_pack_cstr(&b, "trace");
		msd_pack_bool(&b, wanted);
		cr_assert_eq(read_map(&b, MSD_M_CALL, NULL), MSD_OK);
		cr_expect_eq(got.is_traced, wanted);
	}
}

static msd_err read_repeat(uint64_t number, uint64_t series, uint64_t ms,
			   enum msd_method method)
{
	struct msd_buf b = {0};

	msd_pack_map(&b, 1);
	msd_pack_cstr(&b, "repeat");
	msd_pack_array(&b, 3);
	msd_pack_uint(&b, number);
	msd_pack_uint(&b, series);
	msd_pack_uint(&b, ms);
	return read_map(&b, method, NULL);
}

Test(request_options, repeat_is_three_numbers_within_bounds)
{
	cr_assert_eq(read_repeat(1, 1, 0, MSD_M_CALL), MSD_OK);
	cr_expect_eq(got.repeat.n, 4, "an array of three small numbers");
	cr_expect_eq(read_repeat(UINT32_MAX, 1024, UINT32_MAX, MSD_M_CALL), MSD_OK);
	cr_expect_eq(read_repeat(0, 1, 0, MSD_M_CALL), MSD_BAD_REQUEST);
	cr_expect_eq(read_repeat(1, 0, 0, MSD_M_CALL), MSD_BAD_REQUEST);
	cr_expect_eq(read_repeat(1, 1025, 0, MSD_M_CALL), MSD_BAD_REQUEST);
	cr_expect_eq(read_repeat(1ull << 32, 1, 0, MSD_M_CALL), MSD_BAD_REQUEST);
	cr_expect_eq(read_repeat(1, 1, 1ull << 32, MSD_M_CALL), MSD_BAD_REQUEST);
	cr_expect_eq(read_repeat(UINT64_MAX, 1, 0, MSD_M_CALL), MSD_BAD_REQUEST);
	cr_expect_eq(read_repeat(1, 1, 0, MSD_M_MODULE_PROFILE), MSD_BAD_REQUEST);
	cr_expect_eq(read_repeat(1, 1, 0, MSD_M_PING), MSD_UNKNOWN_OPTION);
}

Test(request_options, values_of_another_kind_are_refused)
{
	cr_expect_eq(read_str("device", "no such", MSD_M_CALL), MSD_BAD_REQUEST);
	cr_expect_eq(read_uint("device", 1, MSD_M_CALL), MSD_BAD_REQUEST);
	cr_expect_eq(read_uint("names", 1, MSD_M_CALL), MSD_BAD_REQUEST);
	cr_expect_eq(read_uint("instance", 1, MSD_M_CALL), MSD_BAD_REQUEST);
	cr_expect_eq(read_uint("repeat", 1, MSD_M_CALL), MSD_BAD_REQUEST);
	cr_expect_eq(read_uint("trace", 1, MSD_M_CALL), MSD_BAD_REQUEST);
	cr_expect_eq(read_uint("unordered", 1, MSD_M_CALL), MSD_BAD_REQUEST);
	cr_expect_eq(read_uint("abandon", 1, MSD_M_CALL), MSD_BAD_REQUEST);
}
