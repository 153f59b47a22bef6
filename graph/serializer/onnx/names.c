#include "graph/serializer/onnx/names.h"

#include <stdlib.h>
#include <string.h>

/* FNV-1a, mixed once more: names differ in their last digits. */
static size_t hash(const char *name)
{
	uint64_t h = 0xcbf29ce484222325u;

	for (; *name != '\0'; name++)
		h = (h ^ (uint8_t)*name) * 0x100000001b3u;
	return (size_t)(h ^ h >> 29);
}

/* Where @name is, or the free slot where it belongs. */
static modser_sg_tensor **slot_of(modser_sg_tensor **slots, size_t n, const char *name)
{
	size_t i = hash(name) & (n - 1);

	while (slots[i] != NULL && strcmp(modser_sg_tensor_name(slots[i]), name) != 0)
		i = (i + 1) & (n - 1);
	return &slots[i];
}

modser_sg_tensor *onnx_names_find(const struct onnx_names *names, const char *name)
{
	return names->n_slots > 0 ? *slot_of(names->slots, names->n_slots, name) : NULL;
}

static bool grow(struct onnx_names *names)
{
	const size_t n = names->n_slots > 0 ? 2 * names->n_slots : 64;
	modser_sg_tensor **slots = calloc(n, sizeof(*slots));

	if (slots == NULL)
		return false;
	for (size_t i = 0; i < names->n_slots; i++) {
		modser_sg_tensor *t = names->slots[i];

		if (t != NULL)
			*slot_of(slots, n, modser_sg_tensor_name(t)) = t;
	}
	free(names->slots);
	names->slots = slots;
	names->n_slots = n;
	return true;
}

bool onnx_names_add(struct onnx_names *names, modser_sg_tensor *tensor)
{
	if (2 * names->n >= names->n_slots && !grow(names))
		return false;
	*slot_of(names->slots, names->n_slots, modser_sg_tensor_name(tensor)) = tensor;
	names->n++;
	return true;
}

void onnx_names_finish(struct onnx_names *names)
{
	free(names->slots);
	*names = (struct onnx_names){0};
}
