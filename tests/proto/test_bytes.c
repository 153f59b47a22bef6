#include <criterion/criterion.h>
#include <stdint.h>
#include <string.h>

#include "proto/base/bytes.h"
#include "tests/support/exact.h"
#include "tests/support/fail_alloc.h"

static struct msd_cur cur_of(const void *p, size_t n)
{
	return msd_cur_of((struct msd_span){.p = p, .n = n});
}

Test(span, equals_the_text_with_the_same_bytes_only)
{
	struct msd_span s = {.p = (const uint8_t *)"ping", .n = 4};

	cr_assert(msd_span_is(s, "ping"));
	cr_assert_not(msd_span_is(s, "pin"));
	cr_assert_not(msd_span_is(s, "pings"));
	cr_assert(msd_span_is((struct msd_span){0}, ""));
}

Test(span, begins_with_a_text_or_goes_on_behind_it)
{
	struct msd_span s = {.p = (const uint8_t *)"ping", .n = 4}, rest = {0};

	cr_assert(msd_span_begins(s, "pi"));
	cr_assert(msd_span_begins(s, "ping"));
	cr_assert(msd_span_begins(s, ""));
	cr_assert_not(msd_span_begins(s, "pings"));
	cr_assert_not(msd_span_begins(s, "in"));
	cr_assert_not(msd_span_begins((struct msd_span){0}, "p"));
	cr_assert(msd_span_behind(s, "pi", &rest) && msd_span_is(rest, "ng"));
	cr_assert(msd_span_behind(s, "ping", &rest) && rest.n == 0);
	cr_assert_not(msd_span_behind(s, "po", &rest));
}

Test(span, is_the_same_as_one_of_the_same_bytes)
{
	struct msd_span s = {.p = (const uint8_t *)"ping", .n = 4};

	cr_assert(msd_span_same(s, msd_span_of("ping")));
	cr_assert_not(msd_span_same(s, msd_span_of("pong")));
	cr_assert_not(msd_span_same(s, msd_span_of("pin")));
	cr_assert(msd_span_same((struct msd_span){0}, msd_span_of("")));
}

Test(cursor, reads_little_endian_integers)
{
	static const uint8_t in[] = {1,    2,    3,    4,    5,    6,    7,
				     0xfe, 0xff, 0xff, 0xff, 0xfd, 0xff, 0xff,
				     0xff, 0xff, 0xff, 0xff, 0xff, 8,    0,
				     0,    0,    0,    0,    0,    0};
	struct msd_cur c = cur_of(in, sizeof(in));

	cr_assert_eq(msd_cur_u8(&c), 1);
	cr_assert_eq(msd_cur_u16(&c), 0x0302);
	cr_assert_eq(msd_cur_u32(&c), 0x07060504u);
	cr_assert_eq(msd_cur_i32(&c), -2);
	cr_assert_eq(msd_cur_i64(&c), -3);
	cr_assert_eq(msd_cur_u64(&c), 8);
	cr_assert(msd_cur_end(&c));
}

Test(cursor, reads_a_double)
{
	struct msd_cur c = cur_of("\0\0\0\0\0\0\xf8\x3f", 8);

	cr_assert_eq(msd_cur_f64(&c), 1.5);
}

Test(cursor, take_past_end_marks_bad_and_moves_nothing)
{
	uint8_t *in = exact_copy("abc", 3);
	struct msd_cur c = cur_of(in, 3);

	cr_assert_null(msd_cur_read(&c, 4));
	cr_assert(c.bad);
	cr_assert_eq(c.left, 3);
	free(in);
}

Test(cursor, stays_bad_once_bad)
{
	struct msd_cur c = cur_of("abcdefgh", 8);

	(void)msd_cur_read(&c, 9);
	cr_assert_eq(msd_cur_u8(&c), 0);
	cr_assert_eq(msd_cur_u16(&c), 0);
	cr_assert_eq(msd_cur_u32(&c), 0);
	cr_assert_eq(msd_cur_u64(&c), 0);
	cr_assert_null(msd_cur_read(&c, 0));
	cr_assert_not(msd_cur_end(&c));
}

Test(cursor, of_nothing_is_at_its_end)
{
	struct msd_cur c = cur_of(NULL, 0);

	cr_assert(msd_cur_end(&c));
	(void)msd_cur_read(&c, 0);
	cr_assert(msd_cur_end(&c));
}

Test(cursor, every_prefix_of_a_string_is_bad)
{
	static const uint8_t golden[] = {3, 0, 0, 0, 0, 0, 0, 0, 'a', 'b', 'c'};

	for (size_t n = 0; n < sizeof(golden); n++) {
		uint8_t *in = exact_copy(golden, n);
		struct msd_cur c = cur_of(in, n);

		cr_assert_eq(msd_cur_str64(&c).n, 0);
		cr_assert(c.bad, "prefix of %zu bytes", n);
		free(in);
	}
	struct msd_cur c = cur_of(golden, sizeof(golden));
	cr_assert(msd_span_is(msd_cur_str64(&c), "abc"));
	cr_assert(msd_cur_end(&c));
}

Test(cursor, string_length_near_2_to_64_is_bad)
{
	struct msd_cur c = cur_of("\xff\xff\xff\xff\xff\xff\xff\xff....", 12);

	cr_assert_null(msd_cur_str64(&c).p);
	cr_assert(c.bad);
}

Test(cursor, count_is_bounded_by_what_is_left)
{
	static const uint8_t in[] = {3, 0,   0,   0,   0,   0,   0,
				     0, 'a', 'b', 'c', 'd', 'e', 'f'};
	struct msd_cur fits = cur_of(in, sizeof(in));
	struct msd_cur over = cur_of(in, sizeof(in) - 1);

	cr_assert_eq(msd_cur_count64(&fits, 2), 3);
	cr_assert_not(fits.bad);
	cr_assert_eq(msd_cur_count64(&over, 2), 0);
	cr_assert(over.bad);
}

Test(cursor, count_whose_product_wraps_is_bad)
{
	struct msd_cur c = cur_of("\0\0\0\0\0\0\0\x80........", 16);

	cr_assert_eq(msd_cur_count64(&c, 2), 0);
	cr_assert(c.bad);
}

Test(buffer, writes_what_the_cursor_reads)
{
	struct msd_buf b = {0};

	msd_buf_put_u8(&b, 1);
	msd_buf_put_u16(&b, 0x0302);
	msd_buf_put_u32(&b, 0x07060504u);
	msd_buf_put_u64(&b, 0x0f0e0d0c0b0a0908u);
	for (size_t i = 0; i < b.n; i++)
		cr_assert_eq(b.p[i], i + 1);
	cr_assert_eq(b.n, 15);
	msd_buf_finish(&b);
}

Test(buffer, string_round_trip)
{
	struct msd_buf b = {0};

	msd_buf_put_str64(&b, "name", 4);
	msd_buf_put_str64(&b, NULL, 0);
	struct msd_cur c = cur_of(b.p, b.n);
	cr_assert(msd_span_is(msd_cur_str64(&c), "name"));
	cr_assert(msd_span_is(msd_cur_str64(&c), ""));
	cr_assert(msd_cur_end(&c));
	msd_buf_finish(&b);
}

Test(buffer, printf_appends_without_nul)
{
	struct msd_buf b = {0};

	msd_buf_printf(&b, "%d+", 1);
	msd_buf_printf(&b, "%0200d", 2);
	cr_assert_eq(b.n, 202);
	cr_assert_eq(memcmp(b.p, "1+0", 3), 0);
	cr_assert_eq(b.p[201], '2');
	msd_buf_finish(&b);
}

Test(buffer, finish_takes_null_and_can_be_repeated)
{
	struct msd_buf b = {0};

	msd_buf_put_u8(&b, 1);
	msd_buf_finish(&b);
	msd_buf_finish(&b);
	msd_buf_finish(NULL);
	cr_assert_null(b.p);
}

Test(buffer, is_bad_when_any_allocation_fails_and_stays_so)
{
	for (long k = 0;; k++) {
		struct msd_buf b = {0};

		msd_fail_alloc(k);
		for (int i = 0; i < 100; i++)
			msd_buf_printf(&b, "%064d", i);
		bool failed = msd_fail_alloc_stop();
		cr_assert_eq(b.bad, failed);
		cr_assert_eq(b.n == 6400, !failed);
		msd_buf_finish(&b);
		if (!failed)
			break;
	}
}

Test(buffer, reserve_refuses_a_size_that_wraps)
{
	struct msd_buf b = {0};

	msd_buf_put_u8(&b, 1);
	cr_assert_not(msd_buf_reserve(&b, SIZE_MAX));
	cr_assert(b.bad);
	msd_buf_put_u8(&b, 2);
	cr_assert_eq(b.n, 1);
	msd_buf_finish(&b);
}

Test(size, arithmetic_that_wraps_is_refused)
{
	size_t v = 7;

	cr_assert_not(msd_mul_size(SIZE_MAX, 2, &v));
	cr_assert_not(msd_add_size(SIZE_MAX, 1, &v));
	cr_assert_eq(v, 7);
	cr_assert(msd_mul_size(3, 5, &v));
	cr_assert_eq(v, 15);
	cr_assert(msd_add_size(SIZE_MAX - 1, 1, &v));
	cr_assert_eq(v, SIZE_MAX);
}
