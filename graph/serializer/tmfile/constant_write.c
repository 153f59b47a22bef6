#include <stdlib.h>

#include "graph/ir/graph.h"
#include "graph/serializer/tmfile/constant.h"
#include "graph/serializer/tmfile/format.h"

bool tm_constant_is_narrowed(const modser_sg_tensor *t)
{
	return t->type == MODSER_TENSOR_CONST && t->data != NULL &&
	       t->dtype.code == MSD_DT_INT && t->dtype.bits == 64;
}

static uint32_t put_object(struct tm_writer *w, uint64_t bytes, uint32_t at)
{
	const uint32_t object[2] = {(uint32_t)bytes, at};

	return tm_put_words(w, object, 2);
}

static int put_narrowed(struct tm_writer *w, const modser_sg_tensor *t, uint32_t *ret)
{
	const size_t n = (size_t)t->bytes / sizeof(int64_t);
	const size_t bytes = n * sizeof(uint32_t);
	uint32_t *words = calloc(n + 1, sizeof(*words));
	bool fits = true;

	if (words == NULL)
		return msd_sg_no_memory(t->graph);
	for (size_t k = 0; k < n; k++) {
		const int64_t v = (int64_t)msd_le64((const uint8_t *)t->data + 8 * k);

		fits = fits && v >= INT32_MIN && v <= INT32_MAX;
		msd_put_le32((uint8_t *)&words[k], (uint32_t)v);
	}
	*ret = put_object(w, bytes, tm_put_bytes(w, words, bytes));
	free(words);
	if (fits)
		return 0;
	return msd_sg_fail(t->graph, MSD_UNSUPPORTED,
			   "tensor %zu \"%s\": a number is over 32 bits", t->index,
			   t->name);
}

int tm_constant_write(struct tm_writer *w, const modser_sg_tensor *t, uint32_t *ret)
{
	uint32_t at = 0;

	if (t->bytes > TM_MAX_BYTES) {
		return msd_sg_fail(t->graph, MSD_TOO_LARGE,
				   "a tmfile holds 4 GiB at most");
	}
	if (tm_constant_is_narrowed(t))
		return put_narrowed(w, t, ret);
	if (t->data == NULL && !t->is_stripped) {
		return msd_sg_fail(t->graph, MSD_UNSUPPORTED,
				   "tensor %zu \"%s\": its bytes were not loaded",
				   t->index, t->name);
	}
	if (t->data != NULL)
		at = tm_put_bytes(w, t->data, (size_t)t->bytes);
	*ret = put_object(w, t->bytes, at);
	return 0;
}
