#include <criterion/criterion.h>
#include <string.h>

#include "daemon/wire/recognise.h"
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

Test(recognise, a_large_body_and_a_short_id_are_not_remembered)
{
	struct msd_memory m = {0};
	struct msd_buf large = call(1, "m:f", MSD_MEMORY_BODY_BYTES);
	static const uint8_t bytes[] = "\x94\x00\x01\xa4ping\x90";
	struct msd_buf small = {.p = (uint8_t *)(uintptr_t)bytes,
				.n = sizeof(bytes) - 1};

	for (int i = 0; i < 3; i++) {
		cr_assert_null(come(&m, &large));
		cr_assert_null(come(&m, &small));
	}
	msd_memory_finish(&m);
	msd_buf_finish(&large);
}
