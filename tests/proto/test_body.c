#include <criterion/criterion.h>
#include <string.h>

#include "proto/body.h"
#include "tests/proto/golden.h"
#include "tests/support/exact.h"

static msd_err read_exact(const uint8_t *p, size_t n)
{
	uint8_t *copy = exact_copy(p, n);
	struct msd_body body;

	msd_err err = msd_body_read((struct msd_span){copy, n}, NULL, &body, NULL);
	free(copy);
	return err;
}

static struct msd_body read_golden(const struct msd_buf *b)
{
	struct msd_diag d = {0};
	struct msd_body body;

	cr_assert_not(b->bad);
	cr_assert_eq(msd_body_read((struct msd_span){b->p, b->n}, NULL, &body, &d),
		     MSD_OK, "%s", msd_diag_text(&d));
	return body;
}

Test(body, request_parts_are_found)
{
	struct msd_buf b = golden_call();
	struct msd_body body = read_golden(&b);

	cr_assert_eq(body.kind, MSD_REQUEST);
	cr_assert_eq(body.id, 7);
	cr_assert(msd_span_is(body.method, "call"));
	cr_assert_eq(body.params.p[0], 0x93);
	cr_assert_eq(body.options.p[0], 0x81);
	cr_assert_eq(body.options.p + body.options.n, b.p + b.n);
	cr_assert_eq(body.params.p + body.params.n, body.options.p);
	cr_assert_eq(body.n_tensors, 2);
	msd_buf_finish(&b);
}

Test(body, response_parts_are_found)
{
	struct msd_buf b = golden_response();
	struct msd_body body = read_golden(&b);
	struct msd_body_error e;

	cr_assert_eq(body.kind, MSD_RESPONSE);
	cr_assert_eq(body.id, 7);
	cr_assert_eq(body.error.n, 1);
	cr_assert_not(msd_body_error_read(body.error, &e));
	cr_assert_eq(body.result.p[0], 0x92);
	cr_assert_eq(body.meta.p[0], 0x81);
	cr_assert_eq(body.n_tensors, 1);
	msd_buf_finish(&b);
}

Test(body, error_parts_are_found)
{
	struct msd_buf b = golden_error();
	struct msd_body body = read_golden(&b);
	struct msd_body_error e;

	cr_assert(msd_body_error_read(body.error, &e));
	cr_assert_eq(e.code, MSD_NOT_FOUND);
	cr_assert(msd_span_is(e.name, "NOT_FOUND"));
	cr_assert(msd_span_is(e.message, "call: no module \"ad\""));
	cr_assert_eq(e.details.n, 1);
	cr_assert_eq(body.meta.n, 0);
	msd_buf_finish(&b);
}

Test(body, error_number_of_a_later_version_is_internal_here)
{
	static const char in[] = "\x94\x01\x07\x93\xcd\x03\xe8\xa1X\xa1m\xc0";
	struct msd_body body;
	struct msd_body_error e;

	cr_assert_eq(
		msd_body_read((struct msd_span){(const uint8_t *)in, sizeof(in) - 1},
			      NULL, &body, NULL),
		MSD_OK);
	cr_assert(msd_body_error_read(body.error, &e));
	cr_assert_eq(e.code, MSD_INTERNAL);
	cr_assert(msd_span_is(e.name, "X"));
	cr_assert_eq(e.details.n, 0);
}

Test(body, notification_parts_are_found)
{
	struct msd_buf b = golden_notification();
	struct msd_body body = read_golden(&b);

	cr_assert_eq(body.kind, MSD_NOTIFICATION);
	cr_assert(msd_span_is(body.method, "worker.release"));
	cr_assert_eq(body.params.p[0], 0x92);
	cr_assert_eq(body.id, 0);
	msd_buf_finish(&b);
}

Test(body, every_prefix_is_refused)
{
	for (unsigned i = 0; i < GOLDEN_COUNT; i++) {
		struct msd_buf b = golden_body(i);

		for (size_t n = 0; n < b.n; n++) {
			cr_assert_eq(read_exact(b.p, n), MSD_PROTOCOL,
				     "body %u, %zu bytes", i, n);
		}
		cr_assert_eq(read_exact(b.p, b.n), MSD_OK);
		msd_buf_finish(&b);
	}
}

Test(body, a_trailing_byte_is_refused)
{
	for (unsigned i = 0; i < GOLDEN_COUNT; i++) {
		struct msd_buf b = golden_body(i);

		msd_pack_nil(&b);
		cr_assert_eq(read_exact(b.p, b.n), MSD_PROTOCOL);
		msd_buf_finish(&b);
	}
}

Test(body, any_flipped_bit_is_refused_or_read_within_bounds)
{
	for (unsigned i = 0; i < GOLDEN_COUNT; i++) {
		struct msd_buf b = golden_body(i);

		for (size_t bit = 0; bit < 8 * b.n; bit++) {
			b.p[bit / 8] ^= (uint8_t)(1u << bit % 8);
			msd_err err = read_exact(b.p, b.n); /* ASan watches */
			cr_assert(err == MSD_OK || err == MSD_PROTOCOL);
			b.p[bit / 8] ^= (uint8_t)(1u << bit % 8);
		}
		msd_buf_finish(&b);
	}
}

Test(body, id_takes_nine_bytes_whatever_it_is)
{
	struct msd_buf a = {0}, b = {0};

	msd_body_begin_response(&a, 0, false);
	msd_body_begin_response(&b, UINT64_MAX, false);
	cr_assert_eq(a.n, 11);
	cr_assert_eq(b.n, 11);
	cr_assert_eq(a.p[2], 0xcf);
	msd_buf_finish(&a);
	msd_buf_finish(&b);
}

Test(body, result_begins_as_a_response_without_error)
{
	struct msd_buf a = {0}, b = {0};

	msd_body_begin_result(&a, 300, true);
	msd_body_begin_response(&b, 300, true);
	msd_pack_nil(&b);
	cr_assert_eq(a.n, b.n);
	cr_expect_arr_eq(a.p, b.p, b.n);
	msd_buf_finish(&a);
	msd_buf_finish(&b);
}

Test(body, time_is_what_a_map_of_it_is)
{
	struct msd_buf a = {0}, b = {0};

	msd_body_put_timed(&a, UINT64_C(0x0102030405060708));
	msd_pack_map(&b, 1);
	msd_pack_cstr(&b, "exec_ns");
	msd_pack_u64(&b, UINT64_C(0x0102030405060708));
	cr_assert_eq(a.n, b.n);
	cr_expect_arr_eq(a.p, b.p, b.n);
	msd_buf_finish(&a);
	msd_buf_finish(&b);
}

Test(body, failure_names_the_byte_and_the_rule)
{
	struct msd_diag d = {0};
	struct msd_body body;

	cr_assert_eq(
		msd_body_read(
			(struct msd_span){(const uint8_t *)"\x94\x00\x07\xc0\x90", 5},
			NULL, &body, &d),
		MSD_PROTOCOL);
	cr_assert_str_eq(msd_diag_text(&d), "body: byte 3: method (a str) expected");
	msd_diag_finish(&d);
}

/* What @visit sees of a body. */
struct seen {
	const uint8_t *base;
	unsigned n;
	int8_t types[16];
	msd_err answer;
};

static msd_err note_ext(void *ctx, int8_t type, size_t at, size_t n, struct msd_diag *d)
{
	struct seen *s = ctx;

	(void)d;
	cr_assert(n > 0 || type == MSD_EXT_MAP);
	cr_assert_eq((int8_t)s->base[at - 1], type); /* the head's last byte */
	s->types[s->n++] = type;
	return s->answer;
}

Test(body, visitor_sees_every_ext_in_order)
{
	static const int8_t expected[] = {6, 7, 8, 1, 2, 3, 4, 5, 10, 11};
	struct msd_buf b = golden_every_kind();
	struct seen seen = {.base = b.p};
	struct msd_ext_visitor visitor = {.visit = note_ext, .ctx = &seen};
	struct msd_body body;

	cr_assert_eq(msd_body_read((struct msd_span){b.p, b.n}, &visitor, &body, NULL),
		     MSD_OK);
	cr_assert_eq(seen.n, sizeof(expected));
	cr_assert_eq(memcmp(seen.types, expected, sizeof(expected)), 0);
	msd_buf_finish(&b);
}

Test(body, handles_are_counted)
{
	struct msd_buf b = golden_every_kind();
	struct msd_body body = read_golden(&b);

	/* A function, a module, an instance and an upload. */
	cr_assert_eq(body.n_handles, 4);
	cr_assert_eq(body.n_objects, 2); /* and the mark of a map */
	msd_buf_finish(&b);
}

Test(body, visitor_stops_the_scan_with_its_own_code)
{
	struct msd_buf b = golden_every_kind();
	struct seen seen = {.base = b.p, .answer = MSD_NO_SPACE};
	struct msd_ext_visitor visitor = {.visit = note_ext, .ctx = &seen};
	struct msd_body body;

	cr_assert_eq(msd_body_read((struct msd_span){b.p, b.n}, &visitor, &body, NULL),
		     MSD_NO_SPACE);
	cr_assert_eq(seen.n, 1);
	msd_buf_finish(&b);
}
