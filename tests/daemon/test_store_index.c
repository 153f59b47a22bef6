#include <criterion/criterion.h>

#include "daemon/supervisor/repository/stored_edition.h"

static struct msd_digest digest_of(uint8_t seed)
{
	struct msd_digest d = {0};

	d.b[0] = seed;
	return d;
}

/* One that has 1 as current, 2 as previous, and found 9 bad. */
static struct msd_store_index stock(void)
{
	struct msd_edition current = {.digest = digest_of(1)},
			   previous = {.digest = digest_of(2),
				       .has_name = true,
				       .name = digest_of(7)};
	const struct msd_record r = {
		.editions =
			{[MSD_REF_CURRENT] = &current, [MSD_REF_PREVIOUS] = &previous},
		.bad = {digest_of(9)},
		.n_bad = 1};
	struct msd_store_index s = {0};

	msd_store_index_set(&s, &r);
	return s;
}

Test(stock, tells_editions_from_what_is_bad)
{
	const struct msd_store_index s = stock();
	const struct msd_digest current = digest_of(1), bad = digest_of(9);

	cr_assert_eq(s.n_have, 3);
	cr_assert(msd_store_index_is_edition(&s, MSD_REF_CURRENT, &current));
	cr_assert_not(msd_store_index_is_edition(&s, MSD_REF_PREVIOUS, &current));
	cr_assert_not(msd_store_index_is_edition(&s, MSD_REF_CANDIDATE, &current));
	cr_assert_not(msd_store_index_is_bad(&s, &current));
	cr_assert(msd_store_index_is_bad(&s, &bad));
}

Test(stock, without_its_editions_still_knows_what_is_bad)
{
	struct msd_store_index s = stock();
	const struct msd_digest current = digest_of(1), bad = digest_of(9);

	msd_store_index_forget_editions(&s);
	cr_assert_eq(s.n_have, 1);
	cr_assert_not(msd_store_index_is_edition(&s, MSD_REF_CURRENT, &current));
	cr_assert(msd_store_index_is_bad(&s, &bad));
}

Test(stock, knows_an_edition_by_the_name_that_a_registry_has_for_it)
{
	struct msd_store_index s = stock();
	const struct msd_digest name = digest_of(7), nobodys = digest_of(0);

	cr_assert_eq(msd_store_index_find_name(&s, &name), MSD_REF_PREVIOUS);
	cr_assert_eq(msd_store_index_find_name(&s, &nobodys), MSD_REF_COUNT);
	msd_store_index_forget_editions(&s);
	cr_assert_eq(msd_store_index_find_name(&s, &name), MSD_REF_COUNT);
}
