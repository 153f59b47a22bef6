/* What has tensors in segments is known again wherever they are. */
#include <criterion/criterion.h>
#include <string.h>

#include "proto/recognise.h"
#include "proto/value.h"

#define TENSORS 2u

static struct msd_wire_tensor tensor(enum msd_where where, uint16_t segment,
				     uint64_t offset)
{
	return (struct msd_wire_tensor){.where = where,
					.dtype = {.code = 2, .bits = 32, .lanes = 1},
					.segment = segment,
					.offset = offset,
					.bytes = 8,
					.ndim = 1,
					.shape = {2}};
}

/* An answer with @n tensors as @t. */
static struct msd_buf answer(const struct msd_wire_tensor *t, size_t n)
{
	struct msd_buf b = {0};

	msd_body_begin_response(&b, 7, true);
	msd_pack_nil(&b);
	msd_pack_array(&b, n);
	for (size_t i = 0; i < n; i++)
		msd_pack_tensor(&b, t);
	msd_pack_map(&b, 1);
	msd_pack_cstr(&b, "exec_ns");
	msd_pack_u64(&b, 300);
	cr_assert_not(b.bad);
	return b;
}

static struct msd_buf answer_at(uint16_t segment, uint64_t offset)
{
	const struct msd_wire_tensor t = tensor(MSD_AT_SEGMENT, segment, offset);

	return answer(&t, TENSORS);
}

static struct msd_span span_of(const struct msd_buf *b)
{
	return (struct msd_span){b->p, b->n};
}

static struct msd_known *come(struct msd_memory *m, struct msd_span bytes)
{
	struct msd_body body;
	struct msd_known *known = msd_memory_find(m, bytes, 0);

	if (known != NULL)
		return known;
	cr_assert_eq(msd_memory_scan(m, bytes, &body, NULL), MSD_OK);
	return msd_memory_add(m, bytes, 0, &body);
}

/* Does @bit say where the bytes of a tensor are? */
static bool is_place(size_t bit)
{
	const size_t each = 3 + MSD_WIRE_TENSOR_BYTES + 8; /* with the ext's head */
	const size_t first = 11 + 1 + 1;                   /* id, nil, array */

	if (bit / 8 < first || bit / 8 >= first + TENSORS * each)
		return false;
	const size_t at = (bit / 8 - first) % each;
	return (at >= 3 + 6 && at < 3 + 8) || (at >= 3 + 16 && at < 3 + 24);
}

Test(recognise_places, what_never_lies_where_it_lay_is_known_by_its_third_time)
{
	struct msd_memory m = {.kind = MSD_RESPONSE, .has_places = true};
	const struct msd_known *known = NULL;

	for (unsigned i = 0; i < 3; i++) {
		struct msd_buf b = answer_at((uint16_t)i, 64 * i);
		known = msd_memory_find(&m, span_of(&b), 0);
		(void)come(&m, span_of(&b));
		msd_buf_finish(&b);
	}
	cr_assert_not_null(known);
	msd_memory_finish(&m);
}

Test(recognise_places, its_parts_have_the_places_that_came)
{
	struct msd_memory m = {.kind = MSD_RESPONSE, .has_places = true};
	struct msd_buf first = answer_at(0, 64), later = answer_at(3, 1 << 20);
	struct msd_body scanned, parts;

	(void)come(&m, span_of(&first));
	(void)come(&m, span_of(&first));
	const struct msd_known *known = msd_memory_find(&m, span_of(&later), 0);
	cr_assert_not_null(known);
	msd_memory_parts(known, later.p, &parts);
	cr_assert_eq(msd_body_read(span_of(&later), NULL, &scanned, NULL), MSD_OK);
	cr_assert_eq(parts.n_tensors, TENSORS);
	cr_assert_eq(parts.result.n, scanned.result.n);
	cr_assert_arr_eq(parts.result.p, scanned.result.p, scanned.result.n);
	msd_memory_finish(&m);
	msd_buf_finish(&first);
	msd_buf_finish(&later);
}

Test(recognise_places, every_bit_but_of_id_time_and_places_makes_another)
{
	struct msd_memory m = {.kind = MSD_RESPONSE, .has_places = true};
	struct msd_buf b = answer_at(1, 64);

	(void)come(&m, span_of(&b));
	(void)come(&m, span_of(&b));
	for (size_t bit = 0; bit < 8 * b.n; bit++) {
		const bool may_differ = (bit >= 8 * 3 && bit < 8 * 11) ||
					bit >= 8 * (b.n - 8) || is_place(bit);
		b.p[bit / 8] ^= (uint8_t)(1u << bit % 8);
		cr_assert_eq(msd_memory_find(&m, span_of(&b), 0) != NULL, may_differ,
			     "bit %zu", bit);
		b.p[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
	msd_memory_finish(&m);
	msd_buf_finish(&b);
}

Test(recognise_places, a_tensor_that_is_in_no_segment_has_none)
{
	static const enum msd_where where[] = {MSD_AT_INLINE, MSD_AT_OUT};

	for (size_t i = 0; i < sizeof(where) / sizeof(*where); i++) {
		struct msd_memory m = {.kind = MSD_RESPONSE, .has_places = true};
		const uint16_t segment = where[i] == MSD_AT_OUT ? 1024 : 0;
		const struct msd_wire_tensor here = tensor(where[i], segment, 64);
		const struct msd_wire_tensor there = tensor(where[i], segment, 128);
		struct msd_buf first = answer(&here, 1), later = answer(&there, 1);
		(void)come(&m, span_of(&first));
		cr_assert_not_null(come(&m, span_of(&first)));
		cr_assert_null(msd_memory_find(&m, span_of(&later), 0));
		msd_memory_finish(&m);
		msd_buf_finish(&first);
		msd_buf_finish(&later);
	}
}

Test(recognise_places, where_the_owner_wants_none_another_place_is_another_body)
{
	struct msd_memory m = {.kind = MSD_RESPONSE};
	struct msd_buf first = answer_at(0, 64), later = answer_at(0, 128);

	(void)come(&m, span_of(&first));
	cr_assert_not_null(come(&m, span_of(&first)));
	cr_assert_null(msd_memory_find(&m, span_of(&later), 0));
	msd_memory_finish(&m);
	msd_buf_finish(&first);
	msd_buf_finish(&later);
}

Test(recognise_places, a_body_with_too_many_is_not_remembered)
{
	struct msd_memory m = {.kind = MSD_RESPONSE, .has_places = true};
	const struct msd_wire_tensor t = tensor(MSD_AT_SEGMENT, 0, 64);
	struct msd_buf most = answer(&t, MSD_MEMORY_PLACES);
	struct msd_buf more = answer(&t, MSD_MEMORY_PLACES + 1);

	for (int i = 0; i < 3; i++) {
		cr_assert_null(come(&m, span_of(&more)));
		(void)come(&m, span_of(&most));
	}
	cr_assert_not_null(msd_memory_find(&m, span_of(&most), 0));
	msd_memory_finish(&m);
	msd_buf_finish(&most);
	msd_buf_finish(&more);
}

/* A call of m:@function with a tensor at @offset; the id is a short one. */
static struct msd_buf call(const char *function, uint64_t offset)
{
	const struct msd_wire_tensor t = tensor(MSD_AT_SEGMENT, 2, offset);
	struct msd_buf b = {0};

	msd_buf_put(&b,
		    "\x94\x00\x05\xa4"
		    "call",
		    8);
	msd_pack_array(&b, 2);
	msd_pack_cstr(&b, function);
	msd_pack_tensor(&b, &t);
	cr_assert_not(b.bad);
	return b;
}

Test(recognise_places, bodies_of_one_length_are_told_apart_and_a_short_id_moves_nothing)
{
	struct msd_memory m = {.has_places = true};
	struct msd_buf one = call("m:f", 64), other = call("m:g", 64);

	for (int i = 0; i < 2; i++) {
		(void)come(&m, span_of(&one));
		(void)come(&m, span_of(&other));
	}
	const struct msd_known *first = msd_memory_find(&m, span_of(&one), 0);
	const struct msd_known *second = msd_memory_find(&m, span_of(&other), 0);
	cr_assert(first != NULL && second != NULL && first != second);
	struct msd_buf later = call("m:f", 1 << 16);
	cr_assert_eq(msd_memory_find(&m, span_of(&later), 0), first);
	cr_assert_arr_eq(first->bytes + first->n_bytes - 40, later.p + later.n - 40,
			 40);
	msd_memory_finish(&m);
	msd_buf_finish(&one);
	msd_buf_finish(&other);
	msd_buf_finish(&later);
}

/* Legal msgpack, which nobody writes: its id is not where others have theirs. */
Test(recognise, what_has_a_longer_head_is_not_remembered)
{
	const char *const heads[] = {"\xdc\0\4\0", "\xdd\0\0\0\4\0", "\x94\xcc\0",
				     "\x94\xcd\0\0"};
	const size_t sizes[] = {4, 6, 3, 4};

	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
		struct msd_memory m = {0};
		struct msd_buf b = {0};
		struct msd_body body;
		msd_buf_put(&b, heads[i], sizes[i]);
		msd_buf_put(&b, "\x07\xa4ping\x90", 7);
		for (int n = 0; n < 3; n++) {
			cr_assert_eq(msd_memory_scan(&m, span_of(&b), &body, NULL),
				     MSD_OK);
			cr_assert_eq(body.id, 7);
			cr_expect_null(msd_memory_add(&m, span_of(&b), 0, &body));
		}
		cr_expect_null(msd_memory_find(&m, span_of(&b), 0), "%zu", i);
		msd_memory_finish(&m);
		msd_buf_finish(&b);
	}
}
