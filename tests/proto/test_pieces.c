#include <criterion/criterion.h>
#include <string.h>

#include "proto/pieces.h"

static char first[] = "abcdef", second[] = "", third[] = "gh", fourth[] = "ijklmnop";
static const struct iovec pieces[] = {{first, 6}, {second, 0}, {third, 2}, {fourth, 8}};

/* The text that comes from @skip on, four bytes at most. */
static void expect_next(size_t skip, const char *text, const void *at)
{
	uint8_t room[4];
	const uint8_t *found;
	const size_t n = msd_pieces_next(pieces, 4, skip, room, sizeof(room), &found);

	cr_expect_eq(n, strlen(text), "from %zu", skip);
	cr_expect_eq(memcmp(found, text, n), 0, "from %zu", skip);
	cr_expect_eq(found, at != NULL ? at : room, "from %zu", skip);
}

Test(pieces, what_fills_it_is_taken_where_it_lies)
{
	expect_next(0, "abcd", first);
	expect_next(2, "cdef", first + 2);
	expect_next(8, "ijkl", fourth);
	expect_next(12, "mnop", fourth + 4);
}

Test(pieces, what_lies_in_several_is_put_together)
{
	expect_next(3, "defg", NULL);
	expect_next(5, "fghi", NULL);
	expect_next(7, "hijk", NULL);
}

Test(pieces, the_end_is_shorter)
{
	expect_next(14, "op", NULL);
	expect_next(16, "", NULL);
	expect_next(17, "", NULL);
}
