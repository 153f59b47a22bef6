#include <criterion/criterion.h>
#include <stdio.h>

#include "store/folder.h"
#include "store/minimum_versions.h"
#include "tests/store/shelf.h"

static const struct msd_key_id key = {{1, 2, 3, 4, 5, 6, 7, 8}};
static const struct msd_key_id other = {{8, 7, 6, 5, 4, 3, 2, 1}};
static struct shelf shelf;

static void open_shelf(void)
{
	shelf_init(&shelf);
}

static void close_shelf(void)
{
	shelf_finish(&shelf);
}

TestSuite(floors, .init = open_shelf, .fini = close_shelf);

Test(floors, never_fall)
{
	struct msd_minimum_versions f = {0};

	cr_assert_eq(msd_minimum_versions_raise(&f, "digits", &key, 7, NULL), MSD_OK);
	cr_assert_eq(msd_minimum_versions_raise(&f, "digits", &key, 6, NULL), MSD_OK);
	cr_assert_eq(msd_minimum_versions_find(&f, "digits", &key), 7);
	msd_minimum_versions_finish(&f);
}

Test(floors, are_of_a_module_and_a_key)
{
	struct msd_minimum_versions f = {0};

	cr_assert_eq(msd_minimum_versions_raise(&f, "digits", &key, 7, NULL), MSD_OK);
	cr_assert_eq(msd_minimum_versions_find(&f, "digits", &other), 0);
	cr_assert_eq(msd_minimum_versions_find(&f, "letters", &key), 0);
	msd_minimum_versions_finish(&f);
}

Test(floors, are_there_after_a_restart)
{
	struct msd_minimum_versions f = {.newest_s = 1795341600}, again;

	cr_assert_eq(msd_minimum_versions_raise(&f, "digits", &key, UINT64_MAX, NULL),
		     MSD_OK);
	cr_assert_eq(msd_minimum_versions_raise(&f, "digits", &other, 3, NULL), MSD_OK);
	cr_assert_eq(msd_minimum_versions_save(&shelf.store, &f, NULL), MSD_OK);
	cr_assert_eq(shelf_reopen(&shelf), MSD_OK);
	cr_assert_eq(msd_minimum_versions_load(&shelf.store, &again, NULL), MSD_OK);
	cr_assert_eq(again.newest_s, 1795341600);
	cr_assert_eq(msd_minimum_versions_find(&again, "digits", &key), UINT64_MAX);
	cr_assert_eq(msd_minimum_versions_find(&again, "digits", &other), 3);
	msd_minimum_versions_finish(&again);
	msd_minimum_versions_finish(&f);
}

Test(floors, are_none_in_a_new_store)
{
	struct msd_minimum_versions f;

	cr_assert_eq(msd_minimum_versions_load(&shelf.store, &f, NULL), MSD_OK);
	cr_assert_eq(f.n, 0);
	msd_minimum_versions_finish(&f);
}

Test(floors, that_are_damaged_are_no_floors)
{
	static const char *const bad[] = {
		"",
		"modserd-versions 2\n",
		"modserd-versions 1",
		"modserd-versions 1\n\n",
		"modserd-versions 1\nnewest\n",
		"modserd-versions 1\nnewest -1\n",
		"modserd-versions 1\ndigits 0807060504030201\n",
		"modserd-versions 1\ndigits 0807060504030201 18446744073709551616\n",
		"modserd-versions 1\ndigits 08070605040302 1\n",
		"modserd-versions 1\ndigits 080706050403020x 1\n",
		"modserd-versions 1\na/b 0807060504030201 1\n",
		"modserd-versions 1\ndigits 0807060504030201 1 2\n",
	};
	struct msd_minimum_versions f;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		const struct msd_span text = msd_span_of(bad[i]);

		cr_assert_eq(
			msd_folder_replace(shelf.store.dir, "versions", text, NULL),
			MSD_OK);
		cr_expect_eq(msd_minimum_versions_load(&shelf.store, &f, NULL),
			     MSD_BAD_ARTIFACT, "%s", bad[i]);
		msd_minimum_versions_finish(&f);
	}
}

Test(floors, have_a_bound)
{
	struct msd_minimum_versions f = {0};
	char name[16];

	for (unsigned i = 0; i < MSD_MINIMUM_VERSIONS; i++) {
		(void)snprintf(name, sizeof(name), "m%u", i);
		cr_assert_eq(msd_minimum_versions_raise(&f, name, &key, 1, NULL),
			     MSD_OK);
	}
	cr_assert_eq(msd_minimum_versions_raise(&f, "more", &key, 1, NULL),
		     MSD_NO_SPACE);
	cr_assert_eq(msd_minimum_versions_raise(&f, "m0", &key, 2, NULL), MSD_OK);
	msd_minimum_versions_finish(&f);
}
