#include "graph/serializer/tmfile/view.h"

#include <string.h>

#include "graph/ir/graph.h"

#define BUDGET_FACTOR 4u /* times the file's size; real files need it once */

void tm_view_init(struct tm_view *v, struct msd_span file, modser_graph *graph)
{
	*v = (struct tm_view){.file = file, .graph = graph};
	if (!msd_mul_size(file.n, BUDGET_FACTOR, &v->budget))
		v->budget = SIZE_MAX;
}

static int spend(struct tm_view *v, size_t bytes, const char *what)
{
	if (bytes > v->budget) {
		return msd_sg_fail(v->graph, MSD_BAD_ARTIFACT,
				   "%s: objects are named again and again", what);
	}
	v->budget -= bytes;
	return 0;
}

const uint8_t *tm_object(struct tm_view *v, uint32_t offset, size_t bytes,
			 const char *what)
{
	if (offset > v->file.n || bytes > v->file.n - offset) {
		(void)msd_sg_fail(v->graph, MSD_BAD_ARTIFACT,
				  "%s: %zu bytes at offset %u, and the file has %zu",
				  what, bytes, offset, v->file.n);
		return NULL;
	}
	if (spend(v, bytes, what) != 0)
		return NULL;
	return v->file.p + offset;
}

int tm_vector(struct tm_view *v, uint32_t offset, size_t size, const char *what,
	      struct tm_vector *ret)
{
	struct tm_vector found = {0};

	if (offset == 0) {
		*ret = found;
		return 0;
	}
	const uint8_t *head = tm_object(v, offset, 4, what);
	if (head == NULL)
		return -1;
	found.n = msd_le32(head);
	found.p = head + 4;
	if (found.n > (v->file.n - offset - 4) / size) {
		return msd_sg_fail(
			v->graph, MSD_BAD_ARTIFACT,
			"%s: a list of %zu at offset %u, where the file ends", what,
			found.n, offset);
	}
	if (spend(v, found.n * size, what) != 0)
		return -1;
	*ret = found;
	return 0;
}

uint32_t tm_vector_u32(const struct tm_vector *vector, size_t i)
{
	return msd_le32(vector->p + 4 * i);
}

char *tm_string(struct tm_view *v, uint32_t offset, const char *what)
{
	const uint8_t *text = (const uint8_t *)"";
	size_t n = 0;

	if (offset != 0) {
		const uint8_t *head = tm_object(v, offset, 8, what);

		if (head == NULL)
			return NULL;
		n = msd_le32(head);
		text = tm_object(v, msd_le32(head + 4), n, what);
		if (text == NULL)
			return NULL;
	}
	char *copy = msd_sg_copy((const char *)text, strnlen((const char *)text, n));
	if (copy == NULL)
		(void)msd_sg_no_memory(v->graph);
	return copy;
}

float tm_f32(const uint8_t *p)
{
	const uint32_t bits = msd_le32(p);
	float value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}
