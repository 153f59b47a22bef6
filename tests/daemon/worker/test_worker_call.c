#include <criterion/criterion.h>
#include <string.h>

#include "tests/daemon/worker/driver.h"

static struct driver w;

/* addone of @n floats from @first on; receives the response. */
static void addone(int64_t n, float first)
{
	struct msd_buf b = {0};

	(void)driver_call(&w, &b, "addone", 2);
	float *a = driver_put_tensor(&w, &b, n);
	for (int64_t i = 0; i < n; i++)
		a[i] = first + (float)i;
	driver_put_out(&b, n);
	driver_send(&w, &b);
	(void)driver_receive(&w);
}

Test(worker_call, fills_an_out_tensor)
{
	struct msd_wire_tensor t;

	driver_open(&w, MSD_ZOO "calls.so");
	addone(1000, 0.0f);
	driver_out(&w, 0, &t);
	const float *p = driver_at(&w, &t);
	for (int i = 0; i < 1000; i++)
		cr_assert_float_eq(p[i], (float)i + 1.0f, 0.0);
	cr_assert_eq(driver_end(&w), 0, "%s", driver_log(&w));
}

Test(worker_call, says_how_long_the_function_took)
{
	struct msd_cur c;
	uint32_t n;
	struct msd_wire_value key, v;

	driver_open(&w, MSD_ZOO "calls.so");
	addone(10, 0.0f);
	cr_assert(msd_map_open(w.body.meta, &c, &n));
	cr_assert_eq(msd_value_read(&c, &key, NULL), MSD_OK);
	cr_assert(msd_span_is(key.as.str, "exec_ns"));
	cr_assert_eq(msd_value_read(&c, &v, NULL), MSD_OK);
	cr_assert_eq(v.kind, MSD_K_INT);
	cr_assert_gt(v.as.i, 0);
	(void)driver_end(&w);
}

/* Is @key an int in the meta of the last answer? */
static bool tells(const char *key)
{
	const struct msd_span found = msd_map_value(w.body.meta, key);
	struct msd_cur c = msd_cur_of(found);
	struct msd_wire_value v;

	return found.n > 0 && msd_value_read(&c, &v, NULL) == MSD_OK &&
	       v.kind == MSD_K_INT && v.as.i >= 0;
}

Test(worker_call, tells_the_stages_of_a_traced_call_alone)
{
	struct msd_buf b = {0};

	driver_open(&w, MSD_ZOO "results.so");
	(void)driver_begin(&w, &b, "call", true);
	msd_pack_array(&b, 2);
	msd_pack_cstr(&b, "m:echo");
	msd_pack_int(&b, 5);
	msd_pack_map(&b, 1);
	msd_pack_pair_uint(&b, "trace", 1);
	driver_send(&w, &b);
	(void)driver_receive(&w);
	cr_assert_str_eq(driver_error(&w), "OK");
	cr_expect(tells("to_worker_ns"));
	cr_expect(tells("copy_in_ns"));
	cr_expect(tells("copy_out_ns"));
	cr_expect(tells("exec_ns"));
	(void)driver_call(&w, &b, "echo", 1);
	msd_pack_int(&b, 5);
	driver_send(&w, &b);
	(void)driver_receive(&w);
	cr_expect(tells("exec_ns"));
	cr_expect_not(tells("copy_in_ns"));
	(void)driver_end(&w);
}

static void measure(uint64_t number, uint64_t series)
{
	struct msd_buf b = {0};

	(void)driver_begin(&w, &b, "call", true);
	msd_pack_array(&b, 2);
	msd_pack_cstr(&b, "m:echo");
	msd_pack_int(&b, 5);
	msd_pack_map(&b, 1);
	msd_pack_cstr(&b, "repeat");
	msd_pack_array(&b, 3);
	msd_pack_uint(&b, number);
	msd_pack_uint(&b, series);
	msd_pack_uint(&b, 0);
	driver_send(&w, &b);
	(void)driver_receive(&w);
}

Test(worker_call, measures_a_function_within_the_supervisors_bounds)
{
	driver_open(&w, MSD_ZOO "results.so");
	measure(2, 3);
	cr_assert_str_eq(driver_error(&w), "OK");
	struct msd_cur c = msd_cur_of(msd_map_value(w.body.meta, "times"));
	struct msd_wire_value v;
	cr_assert_eq(msd_value_read(&c, &v, NULL), MSD_OK);
	cr_expect(v.kind == MSD_K_BYTES && v.as.str.n == 3 * sizeof(double));
	cr_expect(tells("runs"));
	cr_expect(tells("exec_ns"));
	measure(0, 1);
	cr_expect_str_eq(driver_error(&w), "BAD_REQUEST");
	measure(1, 1025);
	cr_expect_str_eq(driver_error(&w), "BAD_REQUEST");
	(void)driver_end(&w);
}

Test(worker_call, out_tensor_shows_nothing_of_earlier_calls)
{
	struct msd_wire_tensor t;
	struct msd_buf b = {0};

	driver_open(&w, MSD_ZOO "calls.so");
	addone(10000, 5.0f);
	driver_out(&w, 0, &t);
	const uint64_t offset = t.offset;
	driver_release(&w, &t);
	(void)driver_call(&w, &b, "lazy", 1);
	driver_put_out(&b, 10000);
	driver_send(&w, &b);
	(void)driver_receive(&w);
	driver_out(&w, 0, &t);
	cr_assert_eq(t.offset, offset, "the same memory is used again");
	const float *p = driver_at(&w, &t);
	for (int i = 0; i < 10000; i++)
		cr_assert_eq(p[i], 0.0f);
	(void)driver_end(&w);
}

Test(worker_call, passes_plain_values_both_ways)
{
	struct msd_buf b = {0};
	struct msd_wire_value v;

	driver_open(&w, MSD_ZOO "results.so");
	(void)driver_call(&w, &b, "echo", 1);
	msd_pack_int(&b, -17);
	driver_send(&w, &b);
	(void)driver_receive(&w);
	driver_return(&w, &v);
	cr_assert(v.kind == MSD_K_INT && v.as.i == -17);
	(void)driver_call(&w, &b, "echo", 1);
	msd_pack_float(&b, 2.5);
	driver_send(&w, &b);
	(void)driver_receive(&w);
	driver_return(&w, &v);
	cr_assert(v.kind == MSD_K_FLOAT && v.as.f == 2.5);
	(void)driver_end(&w);
}

Test(worker_call, passes_a_string_both_ways)
{
	struct msd_buf b = {0};
	struct msd_wire_value v;

	driver_open(&w, MSD_ZOO "calls.so");
	(void)driver_call(&w, &b, "same", 1);
	msd_pack_cstr(&b, "a text of some length");
	driver_send(&w, &b);
	(void)driver_receive(&w);
	driver_return(&w, &v);
	cr_assert_eq(v.kind, MSD_K_STR);
	cr_assert(msd_span_is(v.as.str, "a text of some length"));
	cr_assert_eq(driver_end(&w), 0, "%s", driver_log(&w));
}

Test(worker_call, returns_a_tuple_with_a_tensor_inside)
{
	struct msd_wire_value v, item;
	struct msd_wire_tensor t;

	driver_open(&w, MSD_ZOO "results.so");
	(void)driver_call_plain(&w, "tuple");
	(void)driver_receive(&w);
	driver_return(&w, &v);
	cr_assert(v.kind == MSD_K_TUPLE && v.as.tuple.n == 3);
	struct msd_cur c = msd_cur_of(v.as.tuple.items);
	cr_assert_eq(msd_value_read(&c, &item, NULL), MSD_OK);
	cr_assert(item.kind == MSD_K_INT && item.as.i == 7);
	cr_assert_eq(msd_value_read(&c, &item, NULL), MSD_OK);
	cr_assert_eq(item.kind, MSD_K_TENSOR);
	cr_assert_eq(msd_wire_tensor_read(item.as.tensor.p, item.as.tensor.n, &t, NULL),
		     MSD_OK);
	cr_assert_eq(((const float *)driver_at(&w, &t))[5], 5.5f);
	cr_assert_eq(driver_end(&w), 0, "%s", driver_log(&w));
}

Test(worker_call, returns_a_tensor_in_an_out_segment)
{
	struct msd_wire_value v;
	struct msd_wire_tensor t;

	driver_open(&w, MSD_ZOO "results.so");
	(void)driver_call_plain(&w, "tensor");
	(void)driver_receive(&w);
	driver_return(&w, &v);
	cr_assert_eq(v.kind, MSD_K_TENSOR);
	cr_assert_eq(msd_wire_tensor_read(v.as.tensor.p, v.as.tensor.n, &t, NULL),
		     MSD_OK);
	cr_assert(t.ndim == 2 && t.shape[0] == 2 && t.shape[1] == 3);
	const float *p = driver_at(&w, &t);
	for (int i = 0; i < 6; i++)
		cr_assert_eq(p[i], (float)i + 0.5f);
	cr_assert_eq(driver_end(&w), 0, "%s", driver_log(&w));
}

Test(worker_call, names_a_result_that_cannot_travel)
{
	driver_open(&w, MSD_ZOO "results.so");
	(void)driver_call_plain(&w, "alien");
	(void)driver_receive(&w);
	cr_assert_str_eq(driver_error(&w), "UNSUPPORTED");
	cr_assert_not_null(strstr(driver_message(&w), "alien: the result is a"));
	(void)driver_end(&w);
}

Test(worker_call, callees_text_arrives_whole)
{
	driver_open(&w, MSD_ZOO "faults.so");
	(void)driver_call_plain(&w, "error_long");
	(void)driver_receive(&w);
	cr_assert_str_eq(driver_error(&w), "CALL_FAILED");
	cr_assert_not_null(strstr(driver_message(&w), "begins "));
	cr_assert_not_null(strstr(driver_message(&w), " ends"));
	(void)driver_end(&w);
}

Test(worker_call, function_that_is_not_there_is_not_found)
{
	driver_open(&w, MSD_ZOO "calls.so");
	(void)driver_call_plain(&w, "addtwo");
	(void)driver_receive(&w);
	cr_assert_str_eq(driver_error(&w), "NOT_FOUND");
	cr_assert_not_null(strstr(driver_message(&w), "addtwo"));
	(void)driver_end(&w);
}

Test(worker_call, refuses_a_tensor_outside_its_segment)
{
	struct msd_buf b = {0};
	struct msd_wire_tensor t = {.where = MSD_AT_SEGMENT,
				    .dtype = {MSD_DT_FLOAT, 32, 1},
				    .segment = 0,
				    .bytes = 4096,
				    .ndim = 1,
				    .shape = {1024}};

	driver_open(&w, MSD_ZOO "calls.so");
	addone(4, 0.0f); /* segment 0 is there now */
	const uint64_t offsets[] = {(1u << 20) - 128, 1u << 20, UINT64_MAX - 127};
	for (int i = 0; i < 3; i++) {
		(void)driver_call(&w, &b, "addone", 2);
		t.offset = offsets[i];
		msd_pack_tensor(&b, &t);
		driver_put_out(&b, 4);
		driver_send(&w, &b);
		(void)driver_receive(&w);
		cr_assert_str_eq(driver_error(&w), "BAD_ARGUMENT");
		cr_assert_not_null(strstr(driver_message(&w), "addone: argument 0"));
	}
	cr_assert_eq(driver_end(&w), 0, "%s", driver_log(&w));
}

Test(worker_call, out_tensors_over_the_limit_are_refused_with_the_sizes)
{
	struct msd_buf b = {0};

	driver_open(&w, MSD_ZOO "faults.so");
	(void)driver_call(&w, &b, "ok", 1);
	driver_put_out(&b, 100 << 20);
	driver_send(&w, &b);
	(void)driver_receive(&w);
	cr_assert_str_eq(driver_error(&w), "NO_SPACE");
	cr_assert_not_null(strstr(driver_message(&w), "419430400"));
	(void)driver_end(&w);
}

Test(worker_call, unreleased_results_use_up_the_room_and_released_ones_do_not)
{
	struct msd_buf b = {0};
	struct msd_wire_tensor t;
	const int64_t n = 8 << 20; /* half of what driver_open() allows */

	driver_open(&w, MSD_ZOO "faults.so");
	for (int i = 0; i < 10; i++) {
		(void)driver_call(&w, &b, "ok", 1);
		driver_put_out(&b, n);
		driver_send(&w, &b);
		(void)driver_receive(&w);
		driver_out(&w, 0, &t);
		driver_release(&w, &t);
	}
	cr_assert_eq(driver_end(&w), 0, "%s", driver_log(&w));
}

/* The tensor that @function of calls.so returns. */
static void returned_tensor(const char *function, struct msd_wire_tensor *ret)
{
	struct msd_wire_value v;

	driver_open(&w, MSD_ZOO "calls.so");
	(void)driver_call_plain(&w, function);
	(void)driver_receive(&w);
	driver_return(&w, &v);
	cr_assert_eq(v.kind, MSD_K_TENSOR);
	cr_assert_eq(msd_wire_tensor_read(v.as.tensor.p, v.as.tensor.n, ret, NULL),
		     MSD_OK);
}

Test(worker_call, strided_result_arrives_compact)
{
	const float expected[] = {0, 3, 1, 4, 2, 5};
	struct msd_wire_tensor t;

	returned_tensor("transposed", &t);
	cr_assert_arr_eq(driver_at(&w, &t), expected, sizeof(expected));
	cr_assert_eq(driver_end(&w), 0, "%s", driver_log(&w));
}

Test(worker_call, older_bools_arrive_as_bool)
{
	const uint8_t expected[] = {1, 0, 1};
	struct msd_wire_tensor t;

	returned_tensor("old_bools", &t);
	cr_assert(msd_dtype_eq(t.dtype, (struct msd_dtype){MSD_DT_BOOL, 8, 1}));
	cr_assert_arr_eq(driver_at(&w, &t), expected, sizeof(expected));
	cr_assert_eq(driver_end(&w), 0, "%s", driver_log(&w));
}

Test(worker_call, result_on_a_device_is_unsupported_by_name)
{
	driver_open(&w, MSD_ZOO "calls.so");
	(void)driver_call_plain(&w, "elsewhere");
	(void)driver_receive(&w);
	cr_assert_str_eq(driver_error(&w), "UNSUPPORTED");
	cr_assert_not_null(strstr(driver_message(&w), "cuda"));
	(void)driver_end(&w);
}

Test(worker_call, text_that_is_not_utf8_arrives_as_bytes)
{
	struct msd_wire_value v;

	driver_open(&w, MSD_ZOO "calls.so");
	(void)driver_call_plain(&w, "no_utf8");
	(void)driver_receive(&w);
	driver_return(&w, &v);
	cr_assert_eq(v.kind, MSD_K_BYTES);
	cr_assert(msd_span_is(v.as.str, "\xff\xfe"));
	(void)driver_end(&w);
}
