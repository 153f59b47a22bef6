#include "client/decode.h"

#include <stdlib.h>
#include <string.h>

#include "client/result.h"
#include "proto/value.h"

/*
 * Two passes over the same bytes: the first counts the objects, then one block is
 * allocated, and the second fills it. The scan has already bounded the depth and the
 * number of objects.
 */
struct walk {
	size_t n_values, n_dims, n_chars,
		n_tensors;    /* counted (first pass) or used (second pass) */
	modser_value *values; /* NULL while counting */
	int64_t *dims;
	char *chars;
	struct msd_inline *tensors;
	bool has_objects;
	struct msd_diag *d;
};

static msd_err walk_object(struct walk *w, struct msd_span object, modser_value *v);

/* The copy of @s with a NUL; NULL while counting. */
static const char *walk_chars(struct walk *w, struct msd_span s)
{
	char *at = w->values != NULL ? w->chars + w->n_chars : NULL;

	if (at != NULL) {
		if (s.n > 0)
			memcpy(at, s.p, s.n);
		at[s.n] = '\0';
	}
	w->n_chars += s.n + 1;
	return at;
}

static const int64_t *walk_dims(struct walk *w, const int64_t *dim, uint32_t ndim)
{
	int64_t *at = NULL;

	if (w->values != NULL && ndim > 0) {
		at = w->dims + w->n_dims;
		memcpy(at, dim, ndim * sizeof(*dim));
	}
	w->n_dims += ndim;
	return at;
}

static modser_handle handle_of(struct msd_handle h)
{
	return (modser_handle){h.slot, h.generation};
}

static msd_err walk_tensor(struct walk *w, struct msd_span ext, modser_value *v)
{
	struct msd_wire_tensor t;
	msd_err err = msd_wire_tensor_read(ext.p, ext.n, &t, w->d);

	if (err != MSD_OK)
		return msd_diag_wrap(w->d, MSD_PROTOCOL, "response");
	if (t.where == MSD_AT_OUT || (t.where == MSD_AT_SEGMENT && t.segment == 0)) {
		return msd_diag_set(w->d, MSD_PROTOCOL,
				    "response: a tensor without a location");
	}
	v->kind = t.where == MSD_AT_RESIDENT ? MODSER_RESIDENT : MODSER_TENSOR;
	v->as.tensor.dtype = (modser_dtype){t.dtype.code, t.dtype.bits, t.dtype.lanes};
	v->as.tensor.device = (modser_device){t.device.type, t.device.id};
	v->as.tensor.ndim = t.ndim;
	v->as.tensor.shape = walk_dims(w, t.shape, t.ndim);
	v->as.tensor.bytes = t.bytes;
	if (v->kind == MODSER_RESIDENT) {
		v->as.tensor.handle = handle_of(t.handle);
		return MSD_OK;
	}
	if (w->values != NULL)
		w->tensors[w->n_tensors] = (struct msd_inline){v, t.offset, t.segment};
	w->n_tensors++;
	return MSD_OK;
}

/* @n objects follow at @c: the elements of a tuple, the keys and values of a map. */
static msd_err walk_items(struct walk *w, struct msd_cur c, size_t n, modser_value *v)
{
	modser_value scratch = {0};
	modser_value *items = NULL;

	if (w->values != NULL) {
		items = w->values + w->n_values;
		v->as.tuple.item = items;
	}
	w->n_values += n;
	for (size_t i = 0; i < n; i++) {
		struct msd_span object;

		if (!msd_object_parse(&c, &object)) {
			return msd_diag_set(w->d, MSD_PROTOCOL,
					    "response: it ends early");
		}
		msd_err err =
			walk_object(w, object, items != NULL ? &items[i] : &scratch);
		if (err != MSD_OK)
			return err;
	}
	return MSD_OK;
}

static msd_err walk_plain(struct walk *w, const struct msd_wire_value *in,
			  modser_value *v)
{
	switch (in->kind) {
	case MSD_K_NIL:
		v->kind = MODSER_NIL;
		return MSD_OK;
	case MSD_K_BOOL:
		v->kind = MODSER_BOOL;
		v->as.b = in->as.b;
		return MSD_OK;
	case MSD_K_INT:
		v->kind = MODSER_INT;
		v->as.i = in->as.i;
		return MSD_OK;
	case MSD_K_FLOAT:
		v->kind = MODSER_FLOAT;
		v->as.f = in->as.f;
		return MSD_OK;
	case MSD_K_STR:
	case MSD_K_BYTES:
		v->kind = in->kind == MSD_K_STR ? MODSER_STR : MODSER_BYTES;
		v->as.str.p = walk_chars(w, in->as.str);
		v->as.str.n = in->as.str.n;
		return MSD_OK;
	case MSD_K_DTYPE:
		v->kind = MODSER_DTYPE;
		v->as.dtype = (modser_dtype){in->as.dtype.code, in->as.dtype.bits,
					     in->as.dtype.lanes};
		return MSD_OK;
	case MSD_K_DEVICE:
		v->kind = MODSER_DEVICE;
		v->as.device = (modser_device){in->as.device.type, in->as.device.id};
		return MSD_OK;
	case MSD_K_SHAPE:
		v->kind = MODSER_SHAPE;
		v->as.shape.ndim = in->as.shape.ndim;
		v->as.shape.dim = walk_dims(w, in->as.shape.dim, in->as.shape.ndim);
		return MSD_OK;
	case MSD_K_TENSOR:
		return walk_tensor(w, in->as.tensor, v);
	case MSD_K_FUNCTION:
	case MSD_K_MODULE:
	case MSD_K_INSTANCE:
	case MSD_K_UPLOAD:
		v->kind = (modser_kind)((int)MODSER_FUNCTION +
					((int)in->kind - (int)MSD_K_FUNCTION));
		v->as.handle = handle_of(in->as.handle);
		return MSD_OK;
	case MSD_K_TUPLE:
		v->kind = MODSER_TUPLE;
		v->as.tuple.n = in->as.tuple.n;
		return walk_items(w, msd_cur_of(in->as.tuple.items), in->as.tuple.n, v);
	case MSD_K_OBJECT:
		v->kind = MODSER_OBJECT;
		w->has_objects = true;
		v->as.object.handle = handle_of(in->as.object.handle);
		v->as.object.is_function = in->as.object.is_function;
		v->as.object.type = walk_chars(w, in->as.object.key);
		return MSD_OK;
	case MSD_K_MAP:
		v->kind = MODSER_MAP;
		w->has_objects = true;
		v->as.tuple.n = in->as.tuple.n;
		return walk_items(w, msd_cur_of(in->as.tuple.items),
				  2 * (size_t)in->as.tuple.n, v);
	case MSD_K_COUNT:
		break;
	}
	return msd_diag_set(w->d, MSD_PROTOCOL, "response: a value of unknown kind");
}

_Static_assert(MSD_K_UPLOAD - MSD_K_FUNCTION == MODSER_UPLOAD - MODSER_FUNCTION &&
		       MSD_K_MODULE - MSD_K_FUNCTION == MODSER_MODULE - MODSER_FUNCTION,
	       "handle kinds stand in the same order");

static msd_err walk_object(struct walk *w, struct msd_span object, modser_value *v)
{
	struct msd_wire_value in;
	struct msd_cur c;
	uint32_t pairs;

	if (msd_map_open(object, &c, &pairs)) {
		v->kind = MODSER_MAP;
		v->as.tuple.n = pairs;
		return walk_items(w, c, 2 * (size_t)pairs, v);
	}
	c = msd_cur_of(object);
	msd_err err = msd_value_read(&c, &in, w->d);
	if (err != MSD_OK)
		return msd_diag_wrap(w->d, MSD_PROTOCOL, "response");
	return walk_plain(w, &in, v);
}

msd_err msd_decode(struct msd_span object, modser_result *r, struct msd_decoded *ret,
		   struct msd_diag *d)
{
	struct walk w = {.d = d};
	modser_value scratch = {0};
	msd_err err = walk_object(&w, object, &scratch);

	*ret = (struct msd_decoded){0};
	if (err != MSD_OK)
		return err;
	/*
	 * One extra byte, because a block of no bytes could be NULL. The sums cannot
	 * overflow: each counted object takes at least one byte of a body of at most
	 * 64 MiB.
	 */
	size_t values = w.n_values * sizeof(modser_value);
	size_t dims = w.n_dims * sizeof(int64_t);
	char *tree = msd_result_tree(r, values + dims + w.n_chars + 1);
	if (w.n_tensors > 0)
		ret->tensors = malloc(w.n_tensors * sizeof(*ret->tensors));
	if (tree == NULL || (w.n_tensors > 0 && ret->tensors == NULL))
		return msd_diag_set(d, MSD_NOMEM, "no memory for a response");
	memset(tree, 0, values);
	r->has_objects = w.has_objects;
	r->n_values = (uint32_t)w.n_values;
	ret->n_tensors = w.n_tensors;
	w = (struct walk){.values = (modser_value *)(void *)tree,
			  .dims = (int64_t *)(void *)(tree + values),
			  .chars = tree + values + dims,
			  .tensors = ret->tensors,
			  .d = d};
	return walk_object(&w, object, &r->root);
}
