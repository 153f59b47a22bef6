#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "store/blob.h"
#include "store/inventory.h"
#include "store/maintenance.h"
#include "store/record.h"
#include "tests/store/shelf.h"

#define N 5000

/* "m" has the blob of @seed as its edition @ref. */
static void keep(struct shelf *s, const char *module, enum msd_ref ref, unsigned seed)
{
	struct msd_record r = {0};
	struct msd_diag d = {0};

	if (msd_record_load(&s->store, module, &r, &d) != MSD_OK)
		msd_diag_finish(&d);
	free(r.editions[ref]);
	r.editions[ref] = shelf_edition(1, seed, N);
	cr_assert_eq(msd_record_save(&s->store, module, &r, &d), MSD_OK);
	msd_record_finish(&r);
}

static void put(struct shelf *s, unsigned seed)
{
	struct msd_digest digest;
	struct msd_diag d = {0};

	cr_assert_eq(shelf_put(s, seed, N, &digest, &d), MSD_OK);
}

Test(care, collects_what_no_record_names)
{
	struct msd_store_use use;
	struct msd_diag d = {0};
	struct shelf s;

	shelf_init(&s);
	for (unsigned seed = 0; seed < 5; seed++)
		put(&s, seed);
	keep(&s, "m", MSD_REF_CURRENT, 0);
	keep(&s, "m", MSD_REF_PREVIOUS, 2);
	keep(&s, "other", MSD_REF_CANDIDATE, 4);
	cr_assert_eq(msd_store_collect(&s.store, &use, &d), MSD_OK);
	cr_assert_eq(use.n_unneeded, 2);
	cr_assert_eq(use.unneeded_bytes, 2 * N);
	for (unsigned seed = 0; seed < 5; seed++)
		cr_expect_eq(shelf_has(&s, seed, N), seed % 2 == 0, "blob %u", seed);
	shelf_finish(&s);
}

Test(care, collects_nothing_when_a_record_is_damaged)
{
	struct msd_store_use use;
	struct msd_diag d = {0};
	struct shelf s;

	shelf_init(&s);
	put(&s, 1);
	int fd = openat(s.store.modules, "m", O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	cr_assert_eq(write(fd, "torn", 4), 4);
	(void)close(fd);
	cr_assert_eq(msd_store_collect(&s.store, &use, &d), MSD_BAD_ARTIFACT);
	cr_assert(strstr(msd_diag_text(&d), "modules") != NULL);
	cr_assert(shelf_has(&s, 1, N));
	msd_diag_finish(&d);
	shelf_finish(&s);
}

Test(care, keeps_the_part_of_a_candidate_that_has_come)
{
	struct msd_store_use use;
	struct msd_blob_writer w;
	struct msd_edition *e = shelf_edition(1, 6, N);
	struct msd_diag d = {0};
	struct shelf s;

	shelf_init(&s);
	keep(&s, "m", MSD_REF_CANDIDATE, 6);
	cr_assert_eq(msd_blob_begin(&w, &s.store, &e->digest, N, &d), MSD_OK);
	cr_assert_eq(
		msd_blob_write(&w, (struct msd_span){(const uint8_t *)"abc", 3}, &d),
		MSD_OK);
	msd_blob_abort(&w, true);
	cr_assert_eq(msd_store_collect(&s.store, &use, &d), MSD_OK);
	cr_assert_eq(use.partial_bytes, 3);
	cr_assert_eq(msd_store_measure(&s.store, &use, &d), MSD_OK);
	cr_assert_eq(use.partial_bytes, 3);
	cr_assert_eq(msd_record_remove(&s.store, "m", &d), MSD_OK);
	cr_assert_eq(msd_store_collect(&s.store, &use, &d), MSD_OK);
	cr_assert_eq(msd_store_measure(&s.store, &use, &d), MSD_OK);
	cr_assert_eq(use.partial_bytes, 0);
	free(e);
	shelf_finish(&s);
}

Test(care, makes_room_by_collecting_and_no_further)
{
	struct msd_diag d = {0};
	struct shelf s;

	shelf_init(&s);
	put(&s, 1);
	put(&s, 2);
	keep(&s, "m", MSD_REF_CURRENT, 1);
	cr_assert_eq(msd_store_make_room(&s.store, N, 2 * N, &d), MSD_OK);
	cr_assert(shelf_has(&s, 1, N));
	cr_assert_not(shelf_has(&s, 2, N));
	cr_assert_eq(msd_store_make_room(&s.store, N + 1, 2 * N, &d), MSD_NO_SPACE);
	cr_assert(strstr(msd_diag_text(&d), "limit of 10000") != NULL, "%s",
		  msd_diag_text(&d));
	cr_assert(shelf_has(&s, 1, N));
	msd_diag_finish(&d);
	shelf_finish(&s);
}

/* "m" and "n" have a previous edition each, of which @pinned keeps its own. */
static void set_up_previous(struct shelf *s, const char *pinned)
{
	struct msd_diag d = {0};

	shelf_init(s);
	for (unsigned seed = 1; seed <= 4; seed++)
		put(s, seed);
	keep(s, "m", MSD_REF_CURRENT, 1);
	keep(s, "m", MSD_REF_PREVIOUS, 2);
	keep(s, "n", MSD_REF_CURRENT, 3);
	keep(s, "n", MSD_REF_PREVIOUS, 4);
	if (pinned != NULL)
		cr_assert_eq(msd_inventory_pin(&s->store, pinned, true, &d), MSD_OK);
}

Test(care, gives_previous_editions_up_as_far_as_need_be)
{
	struct msd_diag d = {0};
	struct shelf s;

	set_up_previous(&s, NULL);
	cr_assert_eq(msd_store_make_room(&s.store, N, 4 * N, &d), MSD_OK);
	cr_expect_not(shelf_has(&s, 2, N)); /* of the first that has one */
	cr_expect(shelf_has(&s, 1, N) && shelf_has(&s, 3, N) && shelf_has(&s, 4, N));
	shelf_finish(&s);
}

Test(care, gives_none_up_where_that_would_not_do)
{
	struct msd_diag d = {0};
	struct shelf s;

	set_up_previous(&s, NULL);
	cr_assert_eq(msd_store_make_room(&s.store, 3 * N, 4 * N, &d), MSD_NO_SPACE);
	cr_expect(shelf_has(&s, 2, N) && shelf_has(&s, 4, N));
	msd_diag_finish(&d);
	shelf_finish(&s);
}

Test(care, gives_nothing_of_what_is_pinned_up)
{
	struct msd_diag d = {0};
	struct shelf s;

	set_up_previous(&s, "m");
	cr_assert_eq(msd_store_make_room(&s.store, N, 4 * N, &d), MSD_OK);
	cr_expect(shelf_has(&s, 2, N));
	cr_expect_not(shelf_has(&s, 4, N));
	cr_assert_eq(msd_store_make_room(&s.store, 2 * N, 4 * N, &d), MSD_NO_SPACE);
	cr_expect(shelf_has(&s, 2, N));
	msd_diag_finish(&d);
	shelf_finish(&s);
}

Test(care, does_not_take_the_file_systems_last_room)
{
	struct msd_diag d = {0};
	struct shelf s;

	shelf_init(&s);
	cr_assert_eq(msd_store_make_room(&s.store, UINT64_MAX / 2, UINT64_MAX, &d),
		     MSD_NO_SPACE);
	cr_assert(strstr(msd_diag_text(&d), "kept free") != NULL, "%s",
		  msd_diag_text(&d));
	msd_diag_finish(&d);
	shelf_finish(&s);
}

static void keep_fault(void *ctx, const char *module, const char *text)
{
	char *all = ctx;

	(void)snprintf(all + strlen(all), 256 - strlen(all), "%s: %.40s\n", module,
		       text);
}

Test(care, verifies_a_module_and_says_what_is_wrong)
{
	static const char *const names[] = {"good", "bad", "gone", "coming"};
	char faults[256] = "";
	uint64_t n_blobs, n = 0;
	struct msd_diag d = {0};
	struct shelf s;

	shelf_init(&s);
	put(&s, 1);
	put(&s, 2);
	keep(&s, "good", MSD_REF_CURRENT, 1);
	keep(&s, "bad", MSD_REF_CURRENT, 2);
	keep(&s, "gone", MSD_REF_PREVIOUS, 3);
	keep(&s, "coming", MSD_REF_CANDIDATE, 4);
	shelf_damage(&s, 2, N);
	for (unsigned i = 0; i < 4; i++) {
		cr_assert_eq(msd_store_verify(&s.store, names[i], keep_fault, faults,
					      &n_blobs, &d),
			     MSD_OK);
		n += n_blobs;
	}
	cr_assert_eq(n, 4);
	cr_assert(strstr(faults, "bad: current, deploy.so: ") == faults, "%s", faults);
	cr_assert(strstr(faults, "gone: previous, deploy.so: ") != NULL, "%s", faults);
	cr_assert(strstr(faults, "good: ") == NULL &&
			  strstr(faults, "coming: ") == NULL,
		  "%s", faults);
	shelf_finish(&s);
}
