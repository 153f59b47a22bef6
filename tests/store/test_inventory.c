#include <criterion/criterion.h>
#include <stdio.h>

#include "proto/value.h"
#include "store/editions.h"
#include "store/inventory.h"
#include "store/record.h"
#include "tests/store/shelf.h"

#define N 100
#define N_MODULES 500u /* some pages of them */

static void keep(struct shelf *s, const char *module, unsigned seed)
{
	struct msd_record r = {0};
	struct msd_digest digest;
	struct msd_diag d = {0};

	cr_assert_eq(shelf_put(s, seed, N, &digest, &d), MSD_OK);
	r.editions[MSD_REF_CURRENT] = shelf_edition(seed, seed, N);
	cr_assert_eq(msd_record_save(&s->store, module, &r, &d), MSD_OK);
	msd_record_finish(&r);
}

static void module_name(unsigned i, char ret[static 16])
{
	(void)snprintf(ret, 16, "m%03u", i);
}

/* The str that @map has under @key; empty: it is nil. */
static void read_word(struct msd_span map, const char *key, char ret[static 64])
{
	struct msd_span value = msd_map_value(map, key);
	struct msd_cur cur = msd_cur_of(value);
	struct msd_wire_value v;

	cr_assert_eq(msd_value_read(&cur, &v, NULL), MSD_OK);
	cr_assert(v.kind == MSD_K_STR || v.kind == MSD_K_NIL);
	(void)snprintf(ret, 64, "%.*s", v.kind == MSD_K_STR ? (int)v.as.str.n : 0,
		       v.kind == MSD_K_STR ? (const char *)v.as.str.p : "");
}

/* Check that the page's editions are the modules from @at on, by name; how many. */
static unsigned expect_modules_from(struct msd_span page, unsigned at)
{
	struct msd_cur items;
	struct msd_span item;
	uint32_t n;

	cr_assert(msd_array_open(msd_map_value(page, "editions"), &items, &n));
	for (uint32_t i = 0; i < n; i++) {
		char found[64], expected[16];

		cr_assert(msd_object_parse(&items, &item));
		read_word(item, "module", found);
		module_name(at + i, expected);
		cr_assert_str_eq(found, expected);
	}
	return n;
}

Test(inventory, lists_many_modules_page_by_page)
{
	char after[64] = "", name[16];
	unsigned n = 0, n_pages = 0;
	struct msd_diag d = {0};
	struct shelf s;

	shelf_init(&s);
	for (unsigned i = 0; i < N_MODULES; i++) {
		module_name(N_MODULES - 1 - i, name);
		keep(&s, name, 1);
	}
	do {
		struct msd_buf b = {0};

		cr_assert_eq(msd_inventory_list(&s.store, after, &b, &d), MSD_OK);
		cr_assert_lt(b.n, MSD_INVENTORY_PAGE + MSD_RECORD_BYTES);
		n += expect_modules_from((struct msd_span){b.p, b.n}, n);
		read_word((struct msd_span){b.p, b.n}, "after", after);
		n_pages++;
		msd_buf_finish(&b);
	} while (after[0] != '\0');
	cr_expect_eq(n, N_MODULES);
	cr_expect_gt(n_pages, 1);
	shelf_finish(&s);
}

Test(inventory, lists_what_is_bad_and_why_the_last_of_it_is)
{
	struct msd_record r = {0};
	struct msd_buf b = {0};
	struct msd_diag d = {0};
	struct msd_cur items;
	struct msd_span item;
	char ref[64], why[64];
	struct shelf s;
	uint32_t n;

	shelf_init(&s);
	r.editions[MSD_REF_CURRENT] = shelf_edition(1, 1, N);
	for (unsigned seed = 2; seed <= 3; seed++) {
		msd_record_try(&r, shelf_edition(seed, seed, N));
		msd_record_failed(&r, "it died");
	}
	cr_assert_eq(msd_record_save(&s.store, "m", &r, &d), MSD_OK);
	msd_record_finish(&r);
	cr_assert_eq(msd_inventory_list(&s.store, "", &b, &d), MSD_OK);
	cr_assert(msd_array_open(msd_map_value((struct msd_span){b.p, b.n}, "editions"),
				 &items, &n));
	cr_assert_eq(n, 3);
	for (uint32_t i = 0; i < n; i++) {
		cr_assert(msd_object_parse(&items, &item));
		read_word(item, "ref", ref);
		read_word(item, "why", why);
		cr_expect_str_eq(ref, i == 0 ? "current" : "bad");
		cr_expect_str_eq(why, i == 2 ? "it died" : "");
	}
	msd_buf_finish(&b);
	shelf_finish(&s);
}

Test(inventory, goes_on_behind_a_module_that_is_gone)
{
	struct msd_buf b = {0};
	struct msd_diag d = {0};
	struct shelf s;

	shelf_init(&s);
	keep(&s, "m000", 1);
	keep(&s, "m002", 1);
	cr_assert_eq(msd_inventory_list(&s.store, "m001", &b, &d), MSD_OK);
	cr_expect_eq(expect_modules_from((struct msd_span){b.p, b.n}, 2), 1);
	msd_buf_finish(&b);
	shelf_finish(&s);
}

Test(inventory, verifies_one_module_at_a_time)
{
	char after[64] = "", fault[64];
	struct msd_diag d = {0};
	struct shelf s;

	shelf_init(&s);
	keep(&s, "a", 1);
	keep(&s, "b", 2);
	shelf_damage(&s, 2, N);
	for (uint32_t n_faults = 0; n_faults < 2; n_faults++) {
		struct msd_buf b = {0};
		struct msd_span page, item;
		struct msd_cur faults;
		uint32_t n;

		cr_assert_eq(msd_inventory_verify(&s.store, after, &b, &d), MSD_OK);
		page = (struct msd_span){b.p, b.n};
		cr_assert(msd_array_open(msd_map_value(page, "faults"), &faults, &n));
		cr_assert_eq(n, n_faults); /* of "a" none, of "b" one */
		read_word(page, "after", after);
		cr_assert_str_eq(after, n_faults == 0 ? "a" : "");
		if (n > 0 && msd_object_parse(&faults, &item))
			read_word(item, "module", fault);
		msd_buf_finish(&b);
	}
	cr_expect_str_eq(fault, "b");
	shelf_finish(&s);
}

Test(inventory, pins_and_unpins)
{
	struct msd_record r = {0};
	struct msd_diag d = {0};
	struct shelf s;

	shelf_init(&s);
	keep(&s, "m", 1);
	for (unsigned is_pinned = 2; is_pinned-- > 0;) {
		cr_assert_eq(msd_inventory_pin(&s.store, "m", is_pinned == 1, &d),
			     MSD_OK);
		cr_assert_eq(msd_record_load(&s.store, "m", &r, &d), MSD_OK);
		cr_expect_eq(r.is_pinned, is_pinned == 1);
		msd_record_finish(&r);
	}
	cr_expect_eq(msd_inventory_pin(&s.store, "none", true, &d), MSD_NOT_FOUND);
	msd_diag_finish(&d);
	shelf_finish(&s);
}
