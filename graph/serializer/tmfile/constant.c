#include "graph/serializer/tmfile/constant.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "graph/ir/graph.h"
#include "graph/serializer/tmfile/format.h"

/* Knuth's MMIX generator; its upper bits become a number below 1. */
static float next_uniform(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return (float)(*state >> 40) / 16777216.0f;
}

/* Weights of several dimensions are spread as for training, so that a deep network
 * neither vanishes nor overflows; vectors, which may be variances, are positive. */
static void fill_seeded(const modser_sg_tensor *t, float *p, uint64_t n)
{
	uint64_t state = t->index + 1;

	if (t->ndim < 2) {
		for (uint64_t i = 0; i < n; i++)
			p[i] = 0.05f + 0.1f * next_uniform(&state);
		return;
	}
	const float limit = sqrtf(6.0f * (float)t->dims[0] / (float)n);
	for (uint64_t i = 0; i < n; i++)
		p[i] = limit * (2.0f * next_uniform(&state) - 1.0f);
}

static bool is_float32(const modser_sg_tensor *t)
{
	return t->dtype.code == MSD_DT_FLOAT && t->dtype.bits == 32;
}

static int make_up(modser_sg_tensor *t, uint64_t bytes, modser_fill fill)
{
	if (fill == MODSER_FILL_REFUSE) {
		return msd_sg_fail(t->graph, MSD_UNSUPPORTED,
				   "the weights were removed from the file; load it "
				   "with missing-weights=zero or "
				   "missing-weights=seeded to replace them");
	}
	void *p = calloc(bytes > 0 ? (size_t)bytes : 1, 1);
	if (p == NULL)
		return msd_sg_no_memory(t->graph);
	if (fill == MODSER_FILL_SEEDED && is_float32(t) && bytes > 0)
		fill_seeded(t, p, bytes / sizeof(float));
	if (modser_sg_tensor_set_buffer(t, p, free) != 0) {
		free(p);
		return -1;
	}
	return 0;
}

/* Use the bytes in place if the file aligns them, else copy them. */
static int use(struct tm_view *v, modser_sg_tensor *t, uint32_t offset)
{
	const size_t bytes = (size_t)t->bytes;
	const size_t align = t->dtype.bits / 8u;

	if (offset > v->file.n || bytes > v->file.n - offset) {
		return msd_sg_fail(v->graph, MSD_BAD_ARTIFACT,
				   "%zu bytes at offset %u, and the file has %zu",
				   bytes, offset, v->file.n);
	}
	const uint8_t *p = v->file.p + offset;
	if (modser_sg_tensor_set_location(t, offset, bytes) != 0)
		return -1;
	if ((uintptr_t)p % align == 0)
		return modser_sg_tensor_set_buffer(t, p, NULL);
	if (tm_object(v, offset, bytes, "weights") == NULL)
		return -1;
	void *copy = malloc(bytes > 0 ? bytes : 1);
	if (copy == NULL)
		return msd_sg_no_memory(v->graph);
	memcpy(copy, p, bytes);
	if (modser_sg_tensor_set_buffer(t, copy, free) != 0) {
		free(copy);
		return -1;
	}
	return 0;
}

int tm_constant_read(struct tm_view *v, modser_sg_tensor *t, uint32_t offset,
		     modser_fill fill)
{
	const uint8_t *object = tm_object(v, offset, TM_BUFFER_BYTES, "its buffer");
	uint64_t bytes;

	if (object == NULL)
		return -1;
	const uint32_t has = msd_le32(object);
	const uint32_t at = msd_le32(object + 4);
	if (!msd_sg_tensor_bytes(t, &bytes)) {
		return msd_sg_fail(v->graph, MSD_BAD_ARTIFACT,
				   "a constant without a known shape, or too large");
	}
	if (has < bytes) {
		return msd_sg_fail(v->graph, MSD_BAD_ARTIFACT,
				   "its buffer has %u bytes, and its shape %" PRIu64,
				   has, bytes);
	}
	if (modser_sg_tensor_set_size(t, bytes) != 0)
		return -1;
	if (at != 0)
		return use(v, t, at);
	if (fill == MODSER_FILL_LEAVE) {
		t->is_stripped = true;
		return 0;
	}
	v->made_up += bytes; /* each below 4 GiB, by the buffer's size field */
	if (v->made_up > TM_MAX_BYTES) { /* more than a file can hold */
		return msd_sg_fail(v->graph, MSD_TOO_LARGE,
				   "the removed weights are more than 4 GiB");
	}
	return make_up(t, bytes, fill);
}
