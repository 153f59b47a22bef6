#include <criterion/criterion.h>
#include <string.h>

#include "daemon/http/target.h"

static struct msd_http_path path;

static bool is_read(const char *text)
{
	return msd_http_path_read(msd_span_of(text), &path);
}

static void expect_segment(unsigned i, const char *text)
{
	cr_assert_lt(i, path.n);
	cr_expect(msd_span_is(path.segments[i], text), "%u: %.*s", i,
		  (int)path.segments[i].n, (const char *)path.segments[i].p);
}

Test(path, is_cut_at_its_slashes)
{
	cr_assert(is_read("/v2/models/digits?x=/y"));
	cr_assert_eq(path.n, 3);
	expect_segment(0, "v2");
	expect_segment(1, "models");
	expect_segment(2, "digits");
}

Test(path, of_the_root_has_no_segment)
{
	cr_assert(is_read("/"));
	cr_expect_eq(path.n, 0);
	cr_assert(is_read("/?q"));
	cr_expect_eq(path.n, 0);
}

Test(path, escapes_are_undone_within_a_segment)
{
	cr_assert(is_read("/a%3Ab/c%2fd/%2e%2e"));
	cr_assert_eq(path.n, 3);
	expect_segment(0, "a:b");
	expect_segment(1, "c/d");
	expect_segment(2, "..");
}

Test(path, dots_and_empty_segments_stay_what_they_are)
{
	cr_assert(is_read("/a/../b//"));
	cr_assert_eq(path.n, 5);
	expect_segment(1, "..");
	expect_segment(3, "");
	expect_segment(4, "");
}

Test(path, refuses_escapes_that_are_none)
{
	cr_expect_not(is_read("/a%"));
	cr_expect_not(is_read("/a%4"));
	cr_expect_not(is_read("/a%4g"));
	cr_expect_not(is_read("/a%-1"));
	cr_expect_not(is_read("/a%00"));
}

Test(path, refuses_other_targets)
{
	cr_expect_not(is_read(""));
	cr_expect_not(is_read("*"));
	cr_expect_not(is_read("http://x/livez"));
}

Test(path, has_room_for_so_much_and_no_more)
{
	char text[MSD_HTTP_PATH_BYTES + 2] = "/";

	memset(text + 1, 'a', MSD_HTTP_PATH_BYTES - 1);
	cr_expect(is_read(text));
	text[MSD_HTTP_PATH_BYTES] = 'a';
	cr_expect_not(is_read(text));
	cr_expect(is_read("/1/2/3/4/5/6/7/8"));
	cr_expect_not(is_read("/1/2/3/4/5/6/7/8/9"));
}
