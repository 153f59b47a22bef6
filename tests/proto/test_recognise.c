#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "proto/recognise.h"
#include "proto/value.h"

/* The body of a call with @id of m:@function with @n ints. */
static struct msd_buf call(uint64_t id, const char *function, size_t n)
{
	struct msd_buf b = {0};

	msd_body_begin_request(&b, id, "call", false);
	msd_pack_array(&b, n + 1);
	msd_pack_cstr(&b, function);
	for (size_t i = 0; i < n; i++)
		msd_pack_int(&b, 7);
	cr_assert_not(b.bad);
	return b;
}

static struct msd_span span_of(const struct msd_buf *b)
{
	return (struct msd_span){b->p, b->n};
}

/* As whoever reads a connection: scanned and remembered when it is not known. */
static struct msd_known *come(struct msd_memory *m, const struct msd_buf *b)
{
	struct msd_body body;
	struct msd_known *known = msd_memory_find(m, span_of(b), 0);

	if (known != NULL)
		return known;
	cr_assert_eq(msd_body_read(span_of(b), NULL, &body, NULL), MSD_OK);
	return msd_memory_add(m, span_of(b), 0, &body);
}

/* It comes twice. */
static struct msd_known *remember(struct msd_memory *m, const char *function)
{
	struct msd_buf b = call(1, function, 0);

	(void)come(m, &b);
	struct msd_known *known = come(m, &b);
	msd_buf_finish(&b);
	return known;
}

Test(recognise, what_came_twice_is_known_by_its_third_time)
{
	struct msd_memory m = {0};
	struct msd_buf b = call(1, "m:f", 2);

	cr_assert_null(come(&m, &b));
	cr_assert_null(msd_memory_find(&m, span_of(&b), 0));
	struct msd_known *known = come(&m, &b);
	cr_assert_not_null(known);
	cr_assert_eq(msd_memory_find(&m, span_of(&b), 0), known);
	msd_memory_finish(&m);
	msd_buf_finish(&b);
}

Test(recognise, the_id_may_differ_and_is_read)
{
	struct msd_memory m = {0};
	struct msd_known *known = remember(&m, "m:f");
	struct msd_buf b = call(0x0123456789abcdef, "m:f", 0);

	cr_assert_eq(msd_memory_find(&m, span_of(&b), 0), known);
	cr_assert_eq(msd_memory_id(b.p), 0x0123456789abcdef);
	msd_memory_finish(&m);
	msd_buf_finish(&b);
}

Test(recognise, every_other_changed_bit_makes_another_body)
{
	struct msd_memory m = {0};
	struct msd_buf b = call(5, "m:function", 3);

	(void)come(&m, &b);
	cr_assert_not_null(come(&m, &b));
	for (size_t bit = 0; bit < 8 * b.n; bit++) {
		const bool is_id = bit >= 8 * 3 && bit < 8 * 11;
		b.p[bit / 8] ^= (uint8_t)(1u << bit % 8);
		cr_assert_eq(msd_memory_find(&m, span_of(&b), 0) != NULL, is_id,
			     "bit %zu", bit);
		b.p[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
	msd_memory_finish(&m);
	msd_buf_finish(&b);
}

Test(recognise, every_prefix_and_another_payload_is_another_body)
{
	struct msd_memory m = {0};
	struct msd_buf b = call(5, "m:function", 3);

	(void)come(&m, &b);
	cr_assert_not_null(come(&m, &b));
	for (size_t n = 0; n < b.n; n++)
		cr_assert_null(msd_memory_find(&m, (struct msd_span){b.p, n}, 0));
	cr_assert_null(msd_memory_find(&m, span_of(&b), 1));
	msd_memory_finish(&m);
	msd_buf_finish(&b);
}

Test(recognise, the_parts_of_what_is_known_are_those_of_a_scan)
{
	struct msd_memory m = {0};
	struct msd_buf b = call(5, "m:f", 3);
	struct msd_body body;

	(void)come(&m, &b);
	const struct msd_known *known = come(&m, &b);
	cr_assert_eq(msd_body_read(span_of(&b), NULL, &body, NULL), MSD_OK);
	cr_assert_eq(known->body.method.n, body.method.n);
	cr_assert_arr_eq(known->body.method.p, body.method.p, body.method.n);
	cr_assert_eq(known->body.params.n, body.params.n);
	cr_assert_arr_eq(known->body.params.p, body.params.p, body.params.n);
	cr_assert(known->body.params.p > known->bytes &&
		  known->body.params.p < known->bytes + known->n_bytes);
	cr_assert_eq(known->body.options.n, 0);
	msd_memory_finish(&m);
	msd_buf_finish(&b);
}

Test(recognise, what_does_not_come_again_pushes_nothing_out)
{
	struct msd_memory m = {0};
	char name[] = "m:other?";
	struct msd_known *known = remember(&m, "m:f");

	for (int i = 0; i < 26; i++) {
		name[7] = (char)('a' + i);
		struct msd_buf b = call(1, name, 0);
		cr_assert_null(come(&m, &b));
		msd_buf_finish(&b);
	}
	cr_assert_eq(remember(&m, "m:f"), known);
	msd_memory_finish(&m);
}

Test(recognise, the_one_that_came_last_hides_no_other)
{
	struct msd_memory m = {0};
	struct msd_known *first = remember(&m, "m:f");
	struct msd_known *second = remember(&m, "m:g");

	for (int i = 0; i < 3; i++) {
		cr_assert_eq(remember(&m, "m:f"), first);
		cr_assert_eq(remember(&m, "m:g"), second);
	}
	msd_memory_drop(&m, second);
	cr_assert_eq(remember(&m, "m:f"), first);
	cr_assert_neq(remember(&m, "m:g"), first);
	msd_memory_finish(&m);
}

Test(recognise, no_more_are_kept_and_what_is_in_use_stays)
{
	struct msd_memory m = {0};
	char name[] = "m:other?";
	struct msd_known *known = remember(&m, "m:f");

	known->n_users++;
	for (int i = 0; i < 26; i++) {
		name[7] = (char)('a' + i);
		cr_assert_not_null(remember(&m, name));
	}
	cr_assert_eq(m.n_known, MSD_MEMORY_BODIES);
	cr_assert_eq(remember(&m, "m:f"), known);
	msd_memory_finish(&m);
}

Test(recognise, where_all_are_in_use_none_is_added)
{
	struct msd_memory m = {0};
	char name[] = "m:other?";

	for (unsigned i = 0; i < MSD_MEMORY_BODIES; i++) {
		name[7] = (char)('a' + i);
		remember(&m, name)->n_users++;
	}
	cr_assert_null(remember(&m, "m:f"));
	cr_assert_eq(m.n_known, MSD_MEMORY_BODIES);
	msd_memory_finish(&m);
}

Test(recognise, a_large_body_is_not_remembered)
{
	struct msd_memory m = {0};
	struct msd_buf large = call(1, "m:f", MSD_MEMORY_BODY_BYTES);

	for (int i = 0; i < 3; i++)
		cr_assert_null(come(&m, &large));
	msd_memory_finish(&m);
	msd_buf_finish(&large);
}

/* A ping whose id is written as @id, all of the @n bytes there. */
static struct msd_buf ping(const char *id, size_t n)
{
	struct msd_buf b = {0};

	msd_buf_put(&b, "\x94", 2);
	msd_buf_put(&b, id, n);
	msd_buf_put(&b, "\xa4ping\x90", 6);
	cr_assert_not(b.bad);
	return b;
}

static const struct written {
	const char *bytes;
	size_t n;
	uint64_t id;
} widths[] = {
	{"\x7f", 1, 0x7f},
	{"\xcc\xff", 2, 0xff},
	{"\xcd\xff\xfe", 3, 0xfffe},
	{"\xce\xff\xfe\xfd\xfc", 5, 0xfffefdfc},
	{"\xcf\xff\xfe\xfd\xfc\xfb\xfa\xf9\xf8", 9, 0xfffefdfcfbfaf9f8},
};
#define N_WIDTHS (sizeof(widths) / sizeof(widths[0]))

Test(recognise, a_body_is_the_same_however_its_id_is_written)
{
	for (size_t first = 0; first < N_WIDTHS; first++) {
		struct msd_memory m = {0};
		struct msd_buf b = ping(widths[first].bytes, widths[first].n);
		(void)come(&m, &b);
		const struct msd_known *known = come(&m, &b);
		cr_assert_not_null(known);
		cr_assert_eq(msd_memory_id(known->bytes), widths[first].id);
		for (size_t i = 0; i < N_WIDTHS; i++) {
			struct msd_buf later = ping(widths[i].bytes, widths[i].n);
			cr_assert_eq(msd_memory_find(&m, span_of(&later), 0), known);
			cr_assert_eq(msd_memory_id(later.p), widths[i].id);
			msd_buf_finish(&later);
		}
		msd_memory_finish(&m);
		msd_buf_finish(&b);
	}
}

/* The other integers, and what is none at all. */
Test(recognise, what_is_no_number_without_a_sign_is_no_id)
{
	struct msd_memory m = {0};
	static const uint8_t zeros[8];
	struct msd_buf b = ping("\x01", 1);

	(void)come(&m, &b);
	cr_assert_not_null(come(&m, &b));
	for (unsigned first = 0x80; first < 0x100; first++) {
		if (first >= 0xcc && first <= 0xcf)
			continue;
		for (size_t n = 0; n <= sizeof(zeros); n++) {
			const char byte = (char)first;
			struct msd_buf other = {0};
			msd_buf_put(&other, "\x94", 2);
			msd_buf_put(&other, &byte, 1);
			msd_buf_put(&other, zeros, n);
			msd_buf_put(&other, "\xa4ping\x90", 6);
			cr_assert_null(msd_memory_find(&m, span_of(&other), 0), "%u",
				       first);
			msd_buf_finish(&other);
		}
	}
	msd_memory_finish(&m);
	msd_buf_finish(&b);
}

/* A worker's answer to a call, which ran for @ns; @n: how many ints it returned. */
static struct msd_buf answer(uint64_t id, size_t n, const char *key, uint64_t ns)
{
	struct msd_buf b = {0};

	msd_body_begin_response(&b, id, true);
	msd_pack_nil(&b);
	msd_pack_array(&b, n);
	for (size_t i = 0; i < n; i++)
		msd_pack_int(&b, 7);
	msd_pack_map(&b, 1);
	msd_pack_cstr(&b, key);
	msd_pack_u64(&b, ns);
	cr_assert_not(b.bad);
	return b;
}

Test(recognise, every_bit_of_an_answer_but_of_its_id_and_time_makes_another)
{
	struct msd_memory m = {.kind = MSD_RESPONSE};
	struct msd_buf b = answer(1, 2, "exec_ns", 300);

	(void)come(&m, &b);
	(void)come(&m, &b);
	for (size_t bit = 0; bit < 8 * b.n; bit++) {
		const bool may_differ =
			(bit >= 8 * 3 && bit < 8 * 11) || bit >= 8 * (b.n - 8);
		b.p[bit / 8] ^= (uint8_t)(1u << bit % 8);
		cr_assert_eq(msd_memory_find(&m, span_of(&b), 0) != NULL, may_differ,
			     "bit %zu", bit);
		b.p[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
	msd_memory_finish(&m);
	msd_buf_finish(&b);
}

Test(recognise, an_answer_has_the_parts_and_the_time_of_the_bytes_that_came)
{
	struct msd_memory m = {.kind = MSD_RESPONSE};
	struct msd_buf first = answer(1, 2, "exec_ns", 300);
	struct msd_buf later = answer(9, 2, "exec_ns", 70000);
	struct msd_body scanned, parts;

	(void)come(&m, &first);
	const struct msd_known *known = come(&m, &first);
	cr_assert_eq(msd_memory_find(&m, span_of(&later), 0), known);
	msd_memory_parts(known, later.p, &parts);
	cr_assert_eq(msd_body_read(span_of(&later), NULL, &scanned, NULL), MSD_OK);
	cr_assert_eq(parts.id, 9);
	cr_assert_eq(parts.error.n, scanned.error.n);
	cr_assert_arr_eq(parts.error.p, scanned.error.p, scanned.error.n);
	cr_assert_eq(parts.result.n, scanned.result.n);
	cr_assert_arr_eq(parts.result.p, scanned.result.p, scanned.result.n);
	cr_assert_eq(parts.result.p, parts.error.p + parts.error.n);
	cr_assert_eq(parts.meta.p, scanned.meta.p);
	cr_assert_eq(parts.meta.n, scanned.meta.n);
	msd_memory_finish(&m);
	msd_buf_finish(&first);
	msd_buf_finish(&later);
}

/* As the supervisor gives none: whoever forwards it writes another in its place. */
Test(recognise, an_answer_with_a_short_id_is_not_remembered)
{
	struct msd_memory m = {.kind = MSD_RESPONSE};
	struct msd_buf b = answer(1, 0, "exec_ns", 300);

	b.p[9] = b.p[0];
	b.p[10] = b.p[1];
	memmove(b.p, b.p + 9, 2);
	memmove(b.p + 3, b.p + 11, b.n - 11);
	b.p[2] = 1;
	b.n -= 8;
	for (int i = 0; i < 3; i++)
		cr_assert_null(come(&m, &b));
	msd_memory_finish(&m);
	msd_buf_finish(&b);
}

/* What ends in eight bytes of another meaning, or is a request. */
Test(recognise, an_answer_without_a_time_at_its_end_is_not_remembered)
{
	struct msd_memory m = {.kind = MSD_RESPONSE};
	struct msd_buf other = answer(1, 2, "queueNs", 300);
	struct msd_buf asked = call(1, "m:f", 4);
	struct msd_buf bare = {0};

	msd_body_begin_response(&bare, 1, false);
	msd_pack_nil(&bare);
	msd_pack_map(&bare, 1);
	msd_pack_cstr(&bare, "exec_ns");
	msd_pack_u64(&bare, 300);
	for (int i = 0; i < 3; i++) {
		cr_assert_null(come(&m, &other));
		cr_assert_null(come(&m, &asked));
		cr_assert_null(come(&m, &bare));
	}
	msd_memory_finish(&m);
	msd_buf_finish(&other);
	msd_buf_finish(&asked);
	msd_buf_finish(&bare);
}

static void weigh(void *ctx, int64_t bytes)
{
	*(int64_t *)ctx += bytes;
}

Test(recognise, who_counts_is_told_of_what_is_kept_and_let_go)
{
	int64_t held = 0;
	struct msd_memory m = {.weigh = weigh, .ctx = &held};
	char name[] = "m:function of some length ?";

	for (int i = 0; i < 3 * (int)MSD_MEMORY_BODIES; i++) {
		name[sizeof(name) - 2] = (char)('!' + i);
		struct msd_known *known = remember(&m, name);
		const int64_t before = held;
		msd_memory_give(&m, known, malloc(100), 100);
		cr_assert_eq(held, before + 100);
	}
	cr_assert_gt(held, MSD_MEMORY_BODIES * 100);
	cr_assert_lt(held, MSD_MEMORY_BODIES * 1000);
	msd_memory_finish(&m);
	cr_assert_eq(held, 0);
}
