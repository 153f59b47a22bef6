#include <criterion/criterion.h>
#include <string.h>

#include "proto/unpack.h"
#include "tests/proto/golden.h"
#include "tests/support/fail_alloc.h"

static struct msd_unpack tree;
static struct msd_diag diag;

static void finish(void)
{
	msd_unpack_finish(&tree);
	msd_diag_finish(&diag);
}
TestSuite(unpack, .fini = finish);

/* The tree of @b, which lives in @b's bytes. */
static const msgpack_object *unpack(const struct msd_buf *b)
{
	const msgpack_object *o = NULL;

	cr_assert_eq(msd_unpack(&tree, (struct msd_span){b->p, b->n}, &o, &diag),
		     MSD_OK);
	return o;
}

/* {"deadline_ms": 50, "trace": true, "name": "add", "delta": -3} */
static struct msd_buf options(void)
{
	struct msd_buf b = {0};

	msd_pack_map(&b, 4);
	msd_pack_cstr(&b, "deadline_ms");
	msd_pack_uint(&b, 50);
	msd_pack_cstr(&b, "trace");
	msd_pack_bool(&b, true);
	msd_pack_cstr(&b, "name");
	msd_pack_cstr(&b, "add");
	msd_pack_cstr(&b, "delta");
	msd_pack_int(&b, -3);
	return b;
}

Test(unpack, fields_of_a_map_are_read_by_name)
{
	struct msd_buf b = options();
	const msgpack_object *o = unpack(&b);
	uint64_t deadline = 0;
	bool trace = false;
	struct msd_span name = {0};

	cr_assert_eq(msd_map_uint(o, "deadline_ms", 1000, &deadline, &diag), MSD_OK);
	cr_assert_eq(msd_map_bool(o, "trace", &trace, &diag), MSD_OK);
	cr_assert_eq(msd_map_str(o, "name", &name, &diag), MSD_OK);
	cr_assert(deadline == 50 && trace && msd_span_is(name, "add"));
	msd_buf_finish(&b);
}

Test(unpack, absent_fields_keep_their_default)
{
	struct msd_buf b = options();
	const msgpack_object *o = unpack(&b);
	uint64_t n = 7;

	cr_assert_null(msd_map_find(o, "deadline"));
	cr_assert_eq(msd_map_uint(o, "deadline", 10, &n, &diag), MSD_OK);
	cr_assert_eq(n, 7);
	msd_buf_finish(&b);
}

Test(unpack, wrong_types_and_ranges_are_named)
{
	struct msd_buf b = options();
	const msgpack_object *o = unpack(&b);
	uint64_t n = 0;

	cr_assert_eq(msd_map_uint(o, "trace", 10, &n, &diag), MSD_BAD_REQUEST);
	cr_assert_str_eq(msd_diag_text(&diag), "trace: an int expected, not a bool");
	cr_assert_eq(msd_map_uint(o, "deadline_ms", 49, &n, &diag), MSD_BAD_REQUEST);
	cr_assert_str_eq(msd_diag_text(&diag), "deadline_ms: 50 is over 49");
	cr_assert_eq(msd_map_uint(o, "delta", 49, &n, &diag), MSD_BAD_REQUEST);
	cr_assert_str_eq(msd_diag_text(&diag), "delta: -3 is negative");
	cr_assert_eq(n, 0);
	msd_buf_finish(&b);
}

Test(unpack, unknown_keys_are_named_with_what_is_known)
{
	static const char *const known[] = {"deadline_ms", "name", "delta", NULL};
	static const char *const all[] = {"deadline_ms", "name", "delta", "trace",
					  NULL};
	struct msd_buf b = options();
	const msgpack_object *o = unpack(&b);

	cr_assert_eq(msd_map_check(o, "options", known, &diag), MSD_UNKNOWN_OPTION);
	cr_assert_str_eq(
		msd_diag_text(&diag),
		"options: \"trace\" is unknown; known: deadline_ms, name, delta");
	cr_assert_eq(msd_map_check(o, "options", all, &diag), MSD_OK);
	msd_buf_finish(&b);
}

Test(unpack, params_are_counted)
{
	struct msd_buf b = {0};

	msd_pack_array(&b, 2);
	msd_pack_nil(&b);
	msd_pack_nil(&b);
	const msgpack_object *o = unpack(&b);
	cr_assert_eq(msd_params_check(o, "ping", 0, 2, &diag), MSD_OK);
	cr_assert_eq(msd_params_check(o, "ping", 0, 1, &diag), MSD_BAD_REQUEST);
	cr_assert_str_eq(msd_diag_text(&diag), "ping: 0 to 1 params expected, not 2");
	cr_assert_eq(msd_params_check(o, "ping", 3, 3, &diag), MSD_BAD_REQUEST);
	cr_assert_str_eq(msd_diag_text(&diag), "ping: 3 params expected, not 2");
	cr_assert_eq(msd_params_check(o->via.array.ptr, "ping", 0, 0, &diag),
		     MSD_BAD_REQUEST);
	msd_buf_finish(&b);
}

Test(unpack, single_objects_are_typed)
{
	struct msd_buf b = golden_every_kind();
	const msgpack_object *p = unpack(&b)->via.array.ptr[3].via.array.ptr;
	struct msd_wire_tensor t;
	struct msd_handle h;
	struct msd_span s;

	cr_assert_eq(msd_object_str(&p[MSD_K_STR], "x", &s, &diag), MSD_OK);
	cr_assert_neq(s.n, 0);
	cr_assert_eq(msd_object_bin(&p[MSD_K_BYTES], "x", &s, &diag), MSD_OK);
	cr_assert_eq(s.n, 2);
	cr_assert_eq(
		msd_object_handle(&p[MSD_K_UPLOAD], "x", MSD_EXT_UPLOAD, &h, &diag),
		MSD_OK);
	cr_assert(h.slot == 3 && h.generation == 9);
	cr_assert_eq(msd_object_tensor(&p[MSD_K_TENSOR], "x", &t, &diag), MSD_OK);
	cr_assert_eq(t.where, MSD_AT_RESIDENT);
	msd_buf_finish(&b);
}

Test(unpack, a_handle_of_another_kind_is_refused)
{
	struct msd_buf b = golden_every_kind();
	const msgpack_object *p = unpack(&b)->via.array.ptr[3].via.array.ptr;
	struct msd_wire_tensor t;
	struct msd_handle h;

	cr_assert_eq(
		msd_object_handle(&p[MSD_K_MODULE], "x", MSD_EXT_UPLOAD, &h, &diag),
		MSD_BAD_REQUEST);
	cr_assert_eq(msd_object_tensor(&p[MSD_K_STR], "x", &t, &diag), MSD_BAD_REQUEST);
	cr_assert_str_eq(msd_diag_text(&diag), "x: a tensor expected, not a str");
	msd_buf_finish(&b);
}

Test(unpack, memory_is_reused)
{
	struct msd_buf b = options();

	for (int i = 0; i < 1000; i++)
		cr_assert_not_null(msd_map_find(unpack(&b), "trace"));
	msd_buf_finish(&b);
}

Test(unpack, what_is_not_one_object_is_refused)
{
	const msgpack_object *o;

	cr_assert_eq(msd_unpack(&tree,
				(struct msd_span){(const uint8_t *)"\xc0\xc0", 2}, &o,
				&diag),
		     MSD_BAD_REQUEST);
	cr_assert_eq(msd_unpack(&tree,
				(struct msd_span){(const uint8_t *)"\x92\xc0", 2}, &o,
				&diag),
		     MSD_BAD_REQUEST);
}

Test(unpack, a_text_that_cannot_be_allocated_leaves_the_code)
{
	static const char *const known[] = {"name", NULL};
	struct msd_buf b = options();
	const msgpack_object *o = unpack(&b);

	for (long k = 0;; k++) {
		msd_fail_alloc(k);
		cr_assert_eq(msd_map_check(o, "options", known, &diag),
			     MSD_UNKNOWN_OPTION);
		if (!msd_fail_alloc_stop())
			break;
		cr_assert_eq(diag.code, MSD_UNKNOWN_OPTION);
	}
	msd_buf_finish(&b);
}
