/*
 * An update of a module, cut at every call that touches the disk: by an error of that
 * call alone, or for good, as a crash does. Whatever was cut, the store opens again,
 * has the old or the new edition whole, and the same update goes through when it is
 * asked for again.
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>

#include "store/maintenance.h"
#include "store/record.h"
#include "tests/store/shelf.h"
#include "tests/support/fail_io.h"

#define OLD 1u
#define NEW 2u

/* Bytes, record, and what nobody needs any more away: what a daemon does. */
static msd_err update(struct shelf *s, size_t n, struct msd_diag *d)
{
	struct msd_digest digest;
	struct msd_record r = {0};
	struct msd_store_use use;
	msd_err err = msd_store_make_room(&s->store, n, UINT64_MAX, d);

	if (err == MSD_OK)
		err = shelf_put(s, NEW, n, &digest, d);
	if (err == MSD_OK)
		err = msd_record_load(&s->store, "m", &r, d);
	if (err == MSD_OK && r.editions[MSD_REF_CURRENT]->version != NEW) {
		free(r.editions[MSD_REF_PREVIOUS]);
		r.editions[MSD_REF_PREVIOUS] = r.editions[MSD_REF_CURRENT];
		r.editions[MSD_REF_CURRENT] = shelf_edition(NEW, NEW, n);
		r.editions[MSD_REF_CURRENT]->has_name = true;
		r.editions[MSD_REF_CURRENT]->name = digest;
		err = msd_record_save(&s->store, "m", &r, d);
	}
	msd_record_finish(&r);
	return err == MSD_OK ? msd_store_collect(&s->store, &use, d) : err;
}

static void set_up(struct shelf *s, size_t n)
{
	struct msd_digest digest;
	struct msd_record r = {0};
	struct msd_diag d = {0};

	shelf_init(s);
	cr_assert_eq(shelf_put(s, OLD, n, &digest, &d), MSD_OK);
	cr_assert_eq(shelf_put(s, 77, n + 1, &digest, &d),
		     MSD_OK); /* to be collected */
	r.editions[MSD_REF_CURRENT] = shelf_edition(OLD, OLD, n);
	cr_assert_eq(msd_record_save(&s->store, "m", &r, &d), MSD_OK);
	msd_record_finish(&r);
}

/* What is current is whole, and so is the old one, which it goes back to. */
static void expect_old_or_new(struct shelf *s, size_t n, long k)
{
	struct msd_record r = {0};
	struct msd_diag d = {0};

	cr_assert_eq(shelf_reopen(s), MSD_OK, "cut at %ld", k);
	cr_assert_eq(msd_record_load(&s->store, "m", &r, &d), MSD_OK, "cut at %ld: %s",
		     k, msd_diag_text(&d));
	unsigned seed = (unsigned)r.editions[MSD_REF_CURRENT]->version;
	cr_assert(seed == OLD || seed == NEW);
	cr_assert_eq(r.editions[MSD_REF_CURRENT]->has_name, seed == NEW);
	cr_assert(shelf_has(s, seed, n), "cut at %ld: version %u is not whole", k,
		  seed);
	cr_assert(shelf_has(s, OLD, n), "cut at %ld: the old one is gone", k);
	msd_record_finish(&r);
}

/* All cuts of one kind; their number. */
static long expect_survival(size_t n, enum msd_fail_io_how how, int error)
{
	bool has_failed = true;
	long k = 0;

	for (; has_failed; k++) {
		struct msd_diag d = {0};
		struct shelf s;

		set_up(&s, n);
		msd_fail_io(k, how, error);
		msd_err err = update(&s, n, &d);
		has_failed = msd_fail_io_stop();
		cr_assert(has_failed || err == MSD_OK, "%s", msd_diag_text(&d));
		msd_diag_finish(&d);
		expect_old_or_new(&s, n, k);
		cr_assert_eq(update(&s, n, &d), MSD_OK, "after a cut at %ld: %s", k,
			     msd_diag_text(&d));
		cr_assert(shelf_has(&s, NEW, n), "after a cut at %ld", k);
		shelf_finish(&s);
	}
	return k - 1;
}

Test(crash, at_any_call_leaves_the_old_or_the_new)
{
	static const size_t sizes[] = {0, 1, 100, 4096, 65536, 262144, 262145, 300001};
	static const int errors[] = {EIO, ENOSPC, EINVAL, EMFILE, EROFS};
	long n_cuts = 0;

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		for (size_t e = 0; e < sizeof(errors) / sizeof(errors[0]); e++) {
			n_cuts +=
				expect_survival(sizes[i], MSD_FAIL_IO_ONCE, errors[e]);
			n_cuts +=
				expect_survival(sizes[i], MSD_FAIL_IO_EVER, errors[e]);
		}
	}
	cr_assert_geq(n_cuts, 2000, "%ld", n_cuts);
}
