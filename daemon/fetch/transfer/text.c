#include "daemon/fetch/transfer/text.h"

#include <stddef.h>

static struct msd_text *of_sink(struct msd_sink *s)
{
	return (void *)((char *)s - offsetof(struct msd_text, sink));
}

static msd_err expect(struct msd_sink *s, uint64_t bytes, struct msd_diag *d)
{
	(void)s;
	if (bytes <= MSD_TEXT_MAX)
		return MSD_OK;
	return msd_diag_set(d, MSD_TOO_LARGE,
			    "a manifest or token of %llu bytes is over the limit "
			    "of %u",
			    (unsigned long long)bytes, MSD_TEXT_MAX);
}

static msd_err take(struct msd_sink *s, struct msd_span bytes, struct msd_diag *d)
{
	struct msd_text *t = of_sink(s);
	const msd_err err = expect(s, s->bytes + bytes.n, d);

	if (err != MSD_OK)
		return err;
	msd_buf_put(&t->bytes, bytes.p, bytes.n);
	s->bytes = t->bytes.n;
	return t->bytes.bad ? msd_diag_no_memory(d) : MSD_OK;
}

static msd_err restart(struct msd_sink *s, struct msd_diag *d)
{
	(void)d;
	of_sink(s)->bytes.n = 0;
	s->bytes = 0;
	return MSD_OK;
}

void msd_text_init(struct msd_text *t)
{
	*t = (struct msd_text){
		.sink = {.expect = expect, .take = take, .restart = restart}};
}
