#include "client/cached_reply.h"

#include <stdlib.h>
#include <string.h>

#include "client/result.h"

struct msd_cached_reply {
	modser_value root; /* points into `tree`, as do the values there */
	uint32_t n_values; /* values at the start of `tree` */
	uint32_t n_bytes;
	bool has_objects, is_varied;
	_Alignas(modser_value) uint8_t tree[];
};

/* Move the pointer of @v from @from to its copy, @to. */
static void point(modser_value *v, const uint8_t *from, uint8_t *to)
{
	switch ((int)v->kind) {
	case MODSER_STR:
	case MODSER_BYTES:
		v->as.str.p = (char *)to + (v->as.str.p - (const char *)from);
		break;
	case MODSER_SHAPE:
		if (v->as.shape.ndim > 0) {
			v->as.shape.dim =
				(int64_t *)(void *)(to +
						    ((const uint8_t *)v->as.shape.dim -
						     from));
		}
		break;
	case MODSER_TUPLE:
	case MODSER_MAP:
		v->as.tuple.item =
			(modser_value *)(void *)(to +
						 ((const uint8_t *)v->as.tuple.item -
						  from));
		break;
	default:
		break;
	}
}

static void copy_tree(const uint8_t *from, uint8_t *to, size_t n_bytes, size_t n_values,
		      modser_value *root)
{
	modser_value *values = (modser_value *)(void *)to;

	memcpy(to, from, n_bytes);
	point(root, from, to);
	for (size_t i = 0; i < n_values; i++)
		point(&values[i], from, to);
}

struct msd_cached_reply *msd_cached_reply_create(const modser_result *r,
						 size_t *ret_bytes)
{
	if (!msd_result_is_small(r))
		return NULL;
	struct msd_cached_reply *k = malloc(sizeof(*k) + r->tree_bytes);
	if (k == NULL)
		return NULL;
	k->root = r->root;
	k->n_values = r->n_values;
	k->n_bytes = r->tree_bytes;
	k->has_objects = r->has_objects;
	k->is_varied = r->is_varied;
	copy_tree(r->tree, k->tree, k->n_bytes, k->n_values, &k->root);
	*ret_bytes = sizeof(*k) + k->n_bytes;
	return k;
}

void msd_cached_reply_copy(const struct msd_cached_reply *k, modser_result *r)
{
	uint8_t *tree = msd_result_tree(r, k->n_bytes); /* in the result's own block */

	r->root = k->root;
	r->n_values = k->n_values;
	r->has_objects = k->has_objects;
	r->is_varied = k->is_varied;
	copy_tree(k->tree, tree, k->n_bytes, k->n_values, &r->root);
}
