#include <criterion/criterion.h>
#include <string.h>
#include <unistd.h>

#include "daemon/supervisor/keep/paper.h"

Test(paper, has_the_text_that_it_was_given)
{
	const struct msd_span text = msd_span_of("{\"name\": \"one\"}");
	struct msd_paper paper;
	char bytes[64];

	cr_assert_eq(msd_paper_write(text, &paper, NULL), MSD_OK);
	cr_assert_eq(paper.bytes, text.n);
	cr_assert_eq(pread(paper.fd, bytes, sizeof(bytes), 0), (ssize_t)text.n);
	cr_assert_eq(memcmp(bytes, text.p, text.n), 0);
	msd_paper_close(&paper);
	cr_assert_eq(paper.bytes, 0);
	msd_paper_close(&paper);
}

Test(paper, of_an_empty_text_is_none)
{
	struct msd_paper paper;

	cr_assert_eq(msd_paper_write((struct msd_span){0}, &paper, NULL), MSD_OK);
	cr_assert_eq(paper.bytes, 0);
	cr_assert_eq(paper.fd, -1);
	msd_paper_close(&paper);
}
