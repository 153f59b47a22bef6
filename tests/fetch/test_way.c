#include <criterion/criterion.h>

#include "daemon/fetch/way.h"

Test(way, that_cannot_begin_holds_nothing)
{
	struct msd_way w;

	cr_assert_eq(msd_way_begin(&w, "ftp://127.0.0.1/a", false, NULL),
		     MSD_BAD_REQUEST);
	cr_expect_null(w.origin);
	cr_expect_null(w.url);
	cr_expect_null(w.home);
}

Test(way, leads_back_to_where_it_began)
{
	struct msd_way w;

	cr_assert_eq(msd_way_begin(&w, "https://a/x", false, NULL), MSD_OK);
	cr_expect(msd_way_is_home(&w));
	cr_assert_eq(msd_way_follow(&w, "https://b/y", NULL), MSD_OK);
	cr_expect_not(msd_way_is_home(&w));
	cr_assert_eq(msd_way_restart(&w, NULL), MSD_OK);
	cr_expect_str_eq(w.url, "https://a/x");
	cr_expect(msd_way_is_home(&w));
	msd_way_finish(&w);
}
