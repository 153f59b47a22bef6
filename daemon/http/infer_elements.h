#ifndef MSD_HTTP_INFER_ELEMENTS_H
#define MSD_HTTP_INFER_ELEMENTS_H
/*
 * The numbers of JSON in their usual form, read in one pass. Each function takes what
 * is next in the text; false: it has another form, and the text is at any place.
 */
#include "daemon/http/infer_ask.h"

struct msd_infer_text {
	const uint8_t *p, *end;
};

static inline void msd_infer_skip_space(struct msd_infer_text *q)
{
	while (q->p < q->end &&
	       (*q->p == ' ' || *q->p == '\n' || *q->p == '\r' || *q->p == '\t'))
		q->p++;
}

/* Skip @c and the space around it, if it is next. */
static inline bool msd_infer_take(struct msd_infer_text *q, uint8_t c)
{
	if (q->p < q->end && *q->p <= ' ')
		msd_infer_skip_space(q);
	if (q->p == q->end || *q->p != c)
		return false;
	q->p++;
	if (q->p < q->end && *q->p <= ' ')
		msd_infer_skip_space(q);
	return true;
}

/** A number that is not negative and has no fraction, of up to 18 digits. */
MSD_MUST_CHECK bool msd_infer_take_natural(struct msd_infer_text *q, int64_t *ret);
MSD_MUST_CHECK bool msd_infer_take_bool(struct msd_infer_text *q, bool *ret);
/** @n elements with commas between them, converted to the type @t at @out. */
MSD_MUST_CHECK bool msd_infer_take_row(struct msd_infer_text *q, struct msd_dtype t,
				       uint64_t n, uint8_t *out);
/**
 * The elements of nested arrays, whose outermost brackets are not in @q. @t has two
 * dimensions at least, and no extent of 0.
 */
MSD_MUST_CHECK bool msd_infer_take_nested(struct msd_infer_text *q,
					  const struct msd_infer_input *t,
					  uint8_t *out);

#endif
