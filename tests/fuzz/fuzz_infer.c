#include <stdlib.h>
#include <string.h>

#include "daemon/http/infer_ask.h"
#include "daemon/http/infer_data.h"
#include "daemon/http/infer_json.h"
#include "daemon/http/infer_quick.h"
#include "proto/limits.h"
#include "tests/fuzz/fuzz.h"

#define MAX_JSON (1u << 20)

/* What is said of an input lies within what came. */
static void walk(const struct msd_infer_ask *a, size_t behind)
{
	uint64_t n;

	MUST(a->n_inputs <= MSD_MAX_TENSORS && a->n_outputs <= MSD_MAX_TENSORS);
	for (uint32_t i = 0; i < a->n_inputs; i++) {
		const struct msd_infer_input *t = &a->inputs[i];
		const size_t room = t->has_data ? a->values.n : behind;
		MUST(msd_shape_elements(t->shape, t->ndim, &n) && n == t->n_elements);
		MUST(t->name.n > 0 && t->from <= room && t->bytes <= room - t->from);
	}
}

/* Elements that JSON brought can be said in JSON again. */
static void write_again(const struct msd_infer_ask *a)
{
	for (uint32_t i = 0; i < a->n_inputs; i++) {
		const struct msd_infer_input *t = &a->inputs[i];
		struct msd_buf out = {0};
		if (!t->has_data)
			continue;
		MUST(msd_infer_data_write(t->dtype, a->values.p + t->from,
					  t->n_elements, UINT64_MAX, &out,
					  NULL) == MSD_OK);
		msd_buf_finish(&out);
	}
}

/* @a and @b are of the same request: one of the quick reader, one of the general one.
 */
static void compare(const struct msd_infer_ask *a, const struct msd_infer_ask *b)
{
	MUST(a->n_inputs == b->n_inputs && a->n_outputs == b->n_outputs);
	MUST(a->values.n == b->values.n && a->is_binary == b->is_binary);
	MUST(a->has_deadline == b->has_deadline && a->deadline_ms == b->deadline_ms);
	MUST((a->id.p == NULL) == (b->id.p == NULL) && msd_span_same(a->id, b->id));
	MUST(a->values.n == 0 || memcmp(a->values.p, b->values.p, a->values.n) == 0);
	for (uint32_t i = 0; i < a->n_inputs; i++) {
		const struct msd_infer_input *x = &a->inputs[i], *y = &b->inputs[i];
		MUST(msd_span_same(x->name, y->name) && x->ndim == y->ndim);
		MUST(msd_dtype_eq(x->dtype, y->dtype) && x->has_data == y->has_data);
		MUST(x->from == y->from && x->bytes == y->bytes);
		MUST(memcmp(x->shape, y->shape, x->ndim * sizeof(*x->shape)) == 0);
	}
	for (uint32_t i = 0; i < a->n_outputs; i++) {
		const struct msd_infer_output *x = &a->outputs[i], *y = &b->outputs[i];
		MUST(msd_span_same(x->name, y->name) && x->is_binary == y->is_binary);
		MUST(x->has_shape == y->has_shape);
	}
}

/* The general reader reads each text that the quick one reads, in the same way. */
static void read_quickly(struct msd_span text, size_t behind,
			 const struct msd_infer_ask *general)
{
	struct msd_infer_ask quick;

	if (!msd_infer_quick_read(&quick, text, behind))
		return;
	MUST(general != NULL);
	compare(&quick, general);
	msd_infer_ask_finish(&quick);
}

/* Accepted: the first line is how many bytes of the rest are JSON, as the header field
 * has it, or empty for all; that asks for something. */
int msd_fuzz_accepts(const uint8_t *data, size_t n)
{
	const uint8_t *line = n > 0 ? memchr(data, '\n', n) : NULL;
	const size_t at = line != NULL ? (size_t)(line - data) : 0;
	struct msd_span field = {data, at}, text, behind;
	struct msd_infer_ask ask;

	if (line == NULL)
		return 0;
	if (at == 0)
		field.p = NULL;
	const struct msd_span body = {line + 1, n - at - 1};
	if (!msd_infer_split(field, body, MAX_JSON, &text, &behind))
		return 0;
	MUST(text.n + behind.n == body.n && text.n <= MAX_JSON);
	if (msd_infer_ask_read(&ask, text, behind.n, NULL) != MSD_OK) {
		read_quickly(text, behind.n, NULL);
		return 0;
	}
	walk(&ask, behind.n);
	write_again(&ask);
	read_quickly(text, behind.n, &ask);
	msd_infer_ask_finish(&ask);
	return 1;
}
