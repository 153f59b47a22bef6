#include <criterion/criterion.h>
#include <stdlib.h>

#include "daemon/fetch/transfer/redirects.h"

Test(way, that_cannot_begin_holds_nothing)
{
	struct msd_redirects w;

	cr_assert_eq(msd_redirects_begin(&w, "ftp://127.0.0.1/a", false, NULL),
		     MSD_BAD_REQUEST);
	cr_expect_null(w.origin);
	cr_expect_null(w.url);
	cr_expect_null(w.home);
}

Test(way, leads_back_to_where_it_began)
{
	struct msd_redirects w;

	cr_assert_eq(msd_redirects_begin(&w, "https://a/x", false, NULL), MSD_OK);
	cr_expect(msd_redirects_is_home(&w));
	cr_assert_eq(msd_redirects_follow(&w, "https://b/y", NULL), MSD_OK);
	cr_expect_not(msd_redirects_is_home(&w));
	cr_assert_eq(msd_redirects_restart(&w, NULL), MSD_OK);
	cr_expect_str_eq(w.url, "https://a/x");
	cr_expect(msd_redirects_is_home(&w));
	msd_redirects_finish(&w);
}

static void expect_follow(const char *location, const char *wanted)
{
	char *is = NULL;

	cr_assert_eq(msd_redirects_lead("https://h:5000/v2/m/blobs/uploads/?a=b",
					location, false, &is, NULL),
		     MSD_OK, "%s", location);
	cr_assert_str_eq(is, wanted);
	free(is);
}

Test(way, a_location_counts_from_where_it_was_given)
{
	expect_follow("https://other/x?y#z", "https://other/x?y");
	expect_follow("/v2/m/u?state=1", "https://h:5000/v2/m/u?state=1");
	expect_follow("u", "https://h:5000/v2/m/blobs/uploads/u");
	expect_follow("./u", "https://h:5000/v2/m/blobs/uploads/u");
	expect_follow("../u", "https://h:5000/v2/m/blobs/u");
	expect_follow("?state=1", "https://h:5000/v2/m/blobs/uploads/?state=1");
	expect_follow("//other:1/u", "https://other:1/u");
}

Test(way, a_location_leads_where_a_redirect_may)
{
	static const char *const no[] = {"http://127.0.0.1/u", "http://h:5000/u",
					 "file:///etc/passwd", "oci://h/u",
					 "//user:secret@h/u"};

	for (size_t i = 0; i < sizeof(no) / sizeof(no[0]); i++) {
		char *is = NULL;

		cr_expect_neq(msd_redirects_lead("https://h:5000/v2/", no[i], false,
						 &is, NULL),
			      MSD_OK, "%s", no[i]);
		cr_expect_null(is);
	}
}
