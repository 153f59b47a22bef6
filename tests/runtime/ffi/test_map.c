#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "runtime/value/hash.h"
#include "runtime/value/map.h"
#include "tests/support/fail_alloc.h"

static struct msd_any str(const char *text)
{
	struct msd_any v;

	cr_assert(msd_any_text(msd_span_of(text), true, &v));
	return v;
}

/* Computed by the AnyHash of tvm-ffi 0.1.15. */
Test(map, hashes_are_those_of_tvm_ffi)
{
	static const struct {
		const char *text;
		uint64_t hash;
	} texts[] = {{"", 0x9e378a48},
		     {"a", 0x9e378a2b},
		     {"seven77", 0x1041c5e19},
		     {"eight888", 0xf70f6416},
		     {"a text that is longer than seven", 0xbd6f11a1},
		     {"0123456789abcdef0", 0xd38e14ad},
		     {"0123456789abcdef012", 0xd3c045ad}};
	struct msd_any v;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		v = str(texts[i].text);
		cr_expect_eq(msd_hash_any(&v), texts[i].hash, "%s", texts[i].text);
		msd_any_drop(&v);
	}
	cr_assert(msd_any_text(msd_span_of("ab"), false, &v));
	cr_expect_eq(msd_hash_any(&v), 0x9e37ece8);
	v = msd_int(-1);
	cr_expect_eq(msd_hash_any(&v), 0x9e3779f9);
	v = msd_float(0.5);
	cr_expect_eq(msd_hash_any(&v), 0x3fe000009e377a7a);
}

/* A map of the keys 0, step, 2 * step, ... whose values are their places. */
static struct msd_map *counting(size_t n, int64_t step)
{
	struct msd_pair *pairs = calloc(n + 1, sizeof(*pairs));
	size_t repeated;

	for (size_t i = 0; i < n; i++) {
		pairs[i].key = msd_int((int64_t)i * step);
		pairs[i].value = msd_int((int64_t)i);
	}
	struct msd_map *m = msd_map_new(MSD_T_MAP, pairs, n, &repeated);
	free(pairs);
	cr_assert_not_null(m);
	return m;
}

static void expect_order(const struct msd_map *m, size_t n, int64_t step)
{
	struct msd_map_walk w = msd_map_begin(m);

	for (size_t i = 0; i < n; i++) {
		const struct msd_pair *p = msd_map_next(&w);
		cr_assert_not_null(p, "%zu of %zu", i, n);
		cr_expect_eq(p->key.as.i, (int64_t)i * step);
		cr_expect_eq(p->value.as.i, (int64_t)i);
	}
	cr_expect_null(msd_map_next(&w));
}

Test(map, keeps_the_order_of_insertion)
{
	for (size_t n = 0; n < 70; n++) {
		struct msd_map *m = counting(n, 3);

		cr_expect_eq(m->size, n);
		cr_expect_eq(m->slots >> 63, n <= 4, "%zu", n);
		expect_order(m, n, 3);
		msd_obj_unref(&m->obj);
	}
}

Test(map, holds_keys_that_meet)
{
	struct msd_map *m = counting(5000, (int64_t)1 << 40);

	expect_order(m, 5000, (int64_t)1 << 40);
	msd_obj_unref(&m->obj);
}

Test(map, owns_its_objects)
{
	struct msd_pair pairs[6];
	char text[32];
	size_t repeated;

	for (int i = 0; i < 6; i++) {
		(void)snprintf(text, sizeof(text), "a key of some length %d", i);
		pairs[i] = (struct msd_pair){str(text), str(text)};
	}
	for (size_t n = 0; n <= 6; n += 3) {
		struct msd_map *m = msd_map_new(MSD_T_DICT, pairs, n, &repeated);
		cr_assert_eq(m->obj.type, MSD_T_DICT);
		cr_expect_eq(msd_obj_is_shared(pairs[0].key.as.obj), n > 0);
		msd_obj_unref(&m->obj);
	}
	for (int i = 0; i < 6; i++) {
		cr_expect(!msd_obj_is_shared(pairs[i].key.as.obj));
		msd_any_drop(&pairs[i].key);
		msd_any_drop(&pairs[i].value);
	}
}

Test(map, refuses_a_key_that_is_there)
{
	struct msd_pair pairs[8] = {0};
	size_t repeated;

	for (size_t n = 2; n <= 8; n++) {
		for (size_t i = 0; i < n; i++) {
			pairs[i].key = str(
				i + 1 == n ? "k0" : (char[]){'k', (char)('0' + i), 0});
		}
		cr_expect_null(msd_map_new(MSD_T_MAP, pairs, n, &repeated));
		cr_expect_eq(repeated, n - 1);
	}
}

Test(map, takes_no_memory_when_it_is_short)
{
	struct msd_pair pairs[20] = {0};
	struct msd_map *m = NULL;
	size_t repeated;

	for (int i = 0; i < 20; i++)
		pairs[i].key = msd_int(i);
	for (long k = 1; m == NULL; k++) {
		msd_fail_alloc(k);
		m = msd_map_new(MSD_T_MAP, pairs, 20, &repeated);
		if (!msd_fail_alloc_stop())
			break;
		cr_assert_null(m);
		cr_expect_eq(repeated, SIZE_MAX);
	}
	cr_assert_not_null(m);
	msd_obj_unref(&m->obj);
}

Test(map, a_walk_ends_at_a_broken_link)
{
	struct msd_map *m = counting(20, 1);
	const uint64_t first = m->first;

	m->first = UINT64_MAX - 1;
	struct msd_map_walk w = msd_map_begin(m);
	cr_expect_null(msd_map_next(&w));
	m->first = first;
	m->size = 1000000; /* more than there are */
	w = msd_map_begin(m);
	size_t n = 0;
	while (msd_map_next(&w) != NULL)
		n++;
	cr_expect_eq(n, 20);
	msd_obj_unref(&m->obj);
}
