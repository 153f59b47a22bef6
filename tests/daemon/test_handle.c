#include <criterion/criterion.h>
#include <string.h>

#include "daemon/loop/handle.h"

static char object;

Test(handles, find_what_was_added)
{
	struct msd_handles hs;
	struct msd_handle h;
	void *found = NULL;

	msd_handles_init(&hs, 10);
	cr_assert_eq(msd_handles_add(&hs, MSD_K_FUNCTION, &object, &h, NULL), MSD_OK);
	cr_expect_neq(h.generation, 0);
	cr_expect_eq(msd_handles_get(&hs, MSD_K_FUNCTION, h, &found, NULL), MSD_OK);
	cr_expect_eq(found, &object);
	msd_handles_finish(&hs);
}

Test(handles, a_reused_slot_does_not_answer_to_its_old_handle)
{
	struct msd_handles hs;
	struct msd_handle old, new;
	struct msd_diag d = {0};
	void *found;

	msd_handles_init(&hs, 10);
	cr_assert_eq(msd_handles_add(&hs, MSD_K_TENSOR, &object, &old, NULL), MSD_OK);
	msd_handles_remove(&hs, old);
	cr_assert_eq(msd_handles_add(&hs, MSD_K_TENSOR, &object, &new, NULL), MSD_OK);
	cr_expect_eq(new.slot, old.slot);
	cr_expect_eq(msd_handles_get(&hs, MSD_K_TENSOR, old, &found, &d),
		     MSD_STALE_HANDLE);
	cr_expect_not_null(strstr(msd_diag_text(&d), "tensor"));
	msd_diag_finish(&d);
	msd_handles_finish(&hs);
}

Test(handles, of_another_kind_or_out_of_range_are_stale)
{
	struct msd_handles hs;
	struct msd_handle h;
	void *found;

	msd_handles_init(&hs, 10);
	cr_assert_eq(msd_handles_add(&hs, MSD_K_UPLOAD, &object, &h, NULL), MSD_OK);
	cr_expect_eq(msd_handles_get(&hs, MSD_K_TENSOR, h, &found, NULL),
		     MSD_STALE_HANDLE);
	h.slot = 4000000000u;
	cr_expect_eq(msd_handles_get(&hs, MSD_K_UPLOAD, h, &found, NULL),
		     MSD_STALE_HANDLE);
	msd_handles_finish(&hs);
}

Test(handles, stop_at_the_limit_and_go_on_after_a_free)
{
	struct msd_handles hs;
	struct msd_handle h[20], extra;

	msd_handles_init(&hs, 20);
	for (int i = 0; i < 20; i++) {
		cr_assert_eq(msd_handles_add(&hs, MSD_K_UPLOAD, &object, &h[i], NULL),
			     MSD_OK);
	}
	cr_expect_eq(msd_handles_add(&hs, MSD_K_UPLOAD, &object, &extra, NULL),
		     MSD_BUSY);
	msd_handles_remove(&hs, h[7]);
	cr_expect_eq(msd_handles_add(&hs, MSD_K_UPLOAD, &object, &extra, NULL), MSD_OK);
	cr_expect_eq(extra.slot, 7);
	msd_handles_finish(&hs);
}

Test(handles, are_walked_each_once_also_when_they_are_removed_on_the_way)
{
	struct msd_handles hs;
	struct msd_handle h[5];
	const struct msd_handle_entry *e;
	uint32_t at = 0, n = 0;

	msd_handles_init(&hs, 10);
	for (int i = 0; i < 5; i++) {
		cr_assert_eq(msd_handles_add(&hs, MSD_K_TENSOR, &object, &h[i], NULL),
			     MSD_OK);
	}
	msd_handles_remove(&hs, h[1]);
	while ((e = msd_handles_next(&hs, &at)) != NULL) {
		cr_expect_eq(e->object, &object);
		cr_expect_neq(at - 1, h[1].slot);
		msd_handles_remove(&hs, h[at - 1]);
		n++;
	}
	cr_expect_eq(n, 4);
	cr_expect_eq(hs.n_live, 0);
	msd_handles_finish(&hs);
}

Test(handles, that_never_were_are_stale)
{
	struct msd_handles hs;
	struct msd_handle h;

	msd_handles_init(&hs, 10);
	cr_expect_null(msd_handles_peek(&hs, MSD_K_TENSOR, (struct msd_handle){0, 1}));
	cr_assert_eq(msd_handles_add(&hs, MSD_K_TENSOR, &object, &h, NULL), MSD_OK);
	cr_expect_null(msd_handles_peek(&hs, MSD_K_TENSOR, (struct msd_handle){0, 0}));
	msd_handles_remove(&hs, h);
	cr_expect_null(msd_handles_peek(&hs, MSD_K_NIL, (struct msd_handle){0, 2}),
		       "a free slot is nothing");
	msd_handles_finish(&hs);
}
