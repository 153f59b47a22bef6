#include <criterion/criterion.h>
#include <string.h>
#include <unistd.h>

#include "daemon/supervisor/keep/attachment.h"

Test(paper, has_the_text_that_it_was_given)
{
	const struct msd_span text = msd_span_of("{\"name\": \"one\"}");
	struct msd_attachment paper;
	char bytes[64];

	cr_assert_eq(msd_attachment_write(text, &paper, NULL), MSD_OK);
	cr_assert_eq(paper.bytes, text.n);
	cr_assert_eq(pread(paper.fd, bytes, sizeof(bytes), 0), (ssize_t)text.n);
	cr_assert_eq(memcmp(bytes, text.p, text.n), 0);
	msd_attachment_close(&paper);
	cr_assert_eq(paper.bytes, 0);
	msd_attachment_close(&paper);
}

Test(paper, of_an_empty_text_is_none)
{
	struct msd_attachment paper;

	cr_assert_eq(msd_attachment_write((struct msd_span){0}, &paper, NULL), MSD_OK);
	cr_assert_eq(paper.bytes, 0);
	cr_assert_eq(paper.fd, -1);
	msd_attachment_close(&paper);
}
