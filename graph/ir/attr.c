/* Typed values: copies, text, equality, and lists by name. */
#include "graph/ir/attr.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "graph/ir/graph.h"
#include "graph/ir/refuse.h"
#include "proto/base/grow.h"
#include "proto/base/json.h"

const void *msd_sg_attr_bytes(const modser_sg_attr *a, size_t *ret_bytes)
{
	*ret_bytes = 0;
	switch (a->kind) {
	case MODSER_ATTR_STR:
		*ret_bytes = strlen(a->as.s) + 1;
		return a->as.s;
	case MODSER_ATTR_INTS:
		*ret_bytes = a->n * sizeof(int64_t);
		return a->as.ints;
	case MODSER_ATTR_FLOATS:
		*ret_bytes = a->n * sizeof(float);
		return a->as.floats;
	case MODSER_ATTR_INT:
	case MODSER_ATTR_FLOAT:
	case MODSER_ATTR_GRAPH:
		break;
	}
	return NULL;
}

bool msd_sg_attr_copy(const modser_sg_attr *from, modser_sg_attr *ret)
{
	size_t n;
	const void *bytes = msd_sg_attr_bytes(from, &n);
	void *copy = NULL;

	if (n > 0) {
		copy = malloc(n);
		if (copy == NULL)
			return false;
		memcpy(copy, bytes, n);
	}
	*ret = *from;
	if (from->kind == MODSER_ATTR_STR) {
		ret->as.s = copy;
	} else if (from->kind == MODSER_ATTR_INTS) {
		ret->as.ints = copy;
	} else if (from->kind == MODSER_ATTR_FLOATS) {
		ret->as.floats = copy;
	}
	return true;
}

void msd_sg_attr_finish(modser_sg_attr *a)
{
	size_t n;

	if (a->kind == MODSER_ATTR_GRAPH) {
		modser_graph_destroy(a->as.graph);
	} else {
		free((void *)(uintptr_t)msd_sg_attr_bytes(a, &n));
	}
	*a = (modser_sg_attr){.kind = MODSER_ATTR_INT};
}

/* Compare bits: files contain NaN, too. */
static uint32_t float_bits(float f)
{
	uint32_t bits;

	memcpy(&bits, &f, sizeof(bits));
	return bits;
}

bool msd_sg_attr_equal(const modser_sg_attr *a, const modser_sg_attr *b)
{
	size_t na;
	size_t nb;
	const void *pa = msd_sg_attr_bytes(a, &na);
	const void *pb = msd_sg_attr_bytes(b, &nb);

	if (a->kind != b->kind)
		return false;
	switch (a->kind) {
	case MODSER_ATTR_INT:
		return a->as.i == b->as.i;
	case MODSER_ATTR_FLOAT:
		return float_bits(a->as.f) == float_bits(b->as.f);
	case MODSER_ATTR_GRAPH:
		return a->as.graph == b->as.graph;
	case MODSER_ATTR_STR:
	case MODSER_ATTR_INTS:
	case MODSER_ATTR_FLOATS:
		break;
	}
	return na == nb && (na == 0 || memcmp(pa, pb, na) == 0);
}

static void put_list(struct msd_buf *out, const modser_sg_attr *a)
{
	msd_buf_put_u8(out, '[');
	for (size_t i = 0; i < a->n && !out->bad; i++) {
		msd_buf_printf(out, i > 0 ? ", " : "");
		if (a->kind == MODSER_ATTR_INTS) {
			msd_buf_printf(out, "%" PRId64, a->as.ints[i]);
		} else {
			msd_buf_printf(out, "%.9g", (double)a->as.floats[i]);
		}
	}
	msd_buf_put_u8(out, ']');
}

void msd_sg_attr_put(struct msd_buf *out, const modser_sg_attr *a)
{
	switch (a->kind) {
	case MODSER_ATTR_INT:
		msd_buf_printf(out, "%" PRId64, a->as.i);
		return;
	case MODSER_ATTR_FLOAT:
		msd_buf_printf(out, "%.9g", (double)a->as.f);
		return;
	case MODSER_ATTR_STR:
		msd_json_cstr(out, a->as.s);
		return;
	case MODSER_ATTR_GRAPH:
		msd_buf_printf(out, "graph");
		return;
	case MODSER_ATTR_INTS:
	case MODSER_ATTR_FLOATS:
		put_list(out, a);
	}
}

const modser_sg_attr *msd_sg_attrs_find(const struct msd_sg_attrs *list,
					const char *name)
{
	for (size_t i = 0; i < list->n; i++) {
		if (strcmp(list->items[i].name, name) == 0)
			return &list->items[i].value;
	}
	return NULL;
}

bool msd_sg_attr_is_origin(const char *name)
{
	static const char *const formats[] = {"onnx.", "tmfile."};

	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		if (strncmp(name, formats[i], strlen(formats[i])) == 0)
			return true;
	}
	return false;
}

const modser_sg_attr *msd_sg_attrs_at(const struct msd_sg_attrs *list, size_t i,
				      const char **ret_name)
{
	if (i >= list->n || ret_name == NULL)
		return NULL;
	*ret_name = list->items[i].name;
	return &list->items[i].value;
}

int msd_sg_attrs_add(modser_graph *g, struct msd_sg_attrs *list, const char *name,
		     const modser_sg_attr *value)
{
	struct msd_sg_attr item = {0};

	if (name == NULL || !msd_sg_attr_is_whole(value))
		return msd_sg_null(g, "the name or the value of an attribute");
	if ((unsigned)value->kind > MODSER_ATTR_GRAPH || !msd_sg_is_name(name)) {
		return msd_sg_fail(
			g, MSD_BAD_ARGUMENT,
			"an attribute of kind %u, or whose name is not UTF-8",
			(unsigned)value->kind);
	}
	if (msd_sg_attrs_find(list, name) != NULL) {
		return msd_sg_fail(g, MSD_EXISTS, "attribute \"%s\" exists already",
				   name);
	}
	if (!msd_grow(&list->items, list->n, sizeof(item)))
		return msd_sg_no_memory(g);
	item.name = msd_sg_copy(name, strlen(name));
	if (item.name == NULL)
		return msd_sg_no_memory(g);
	if (!msd_sg_attr_copy(value, &item.value)) {
		free(item.name);
		return msd_sg_no_memory(g);
	}
	/* The last step, because it cannot be undone. */
	if (value->kind == MODSER_ATTR_GRAPH &&
	    msd_sg_take_graph(g, value->as.graph) != 0) {
		free(item.name);
		return -1;
	}
	list->items[list->n++] = item;
	return 0;
}

void msd_sg_attrs_finish(struct msd_sg_attrs *list)
{
	for (size_t i = 0; i < list->n; i++) {
		free(list->items[i].name);
		msd_sg_attr_finish(&list->items[i].value);
	}
	free(list->items);
	*list = (struct msd_sg_attrs){0};
}
