/*
 * Happy path: the file is a list of arrays and a list of their names; each array has a
 * version, a shape, a dtype and its bytes. Failures: a magic that is not known, a count
 * or an extent that the file cannot hold.
 */
#include "graph/serializer/mxnet/params.h"

#include <stdlib.h>

#include "graph/ir/graph.h"

#define LIST_MAGIC 0x112u
/* The first word of an array, by its version. */
#define V1 0xF993FAC8u
#define V2 0xF993FAC9u
#define V3 0xF993FACAu
#define MIN_ARRAY_BYTES 4u

bool mxnet_params_probe(const void *head, size_t bytes)
{
	struct msd_cur c = msd_cur_of((struct msd_span){head, bytes});

	return msd_cur_u64(&c) == LIST_MAGIC && msd_cur_u64(&c) == 0 && !c.bad;
}

const char *mxnet_dtype(int32_t flag)
{
	static const char *const names[] = {"float32", "float64", "float16", "uint8",
					    "int32",   "int8",    "int64",   "bool"};

	return flag >= 0 && (size_t)flag < sizeof(names) / sizeof(names[0])
		       ? names[flag]
		       : NULL;
}

static int fail(modser_graph *g, size_t i, const char *why)
{
	return msd_sg_fail(g, MSD_BAD_ARTIFACT, "array %zu of the parameters: %s", i,
			   why);
}

/* The shape behind @magic: its form depends on the version. An array without a shape
 * has no bytes: *@ret_is_none. */
static int read_shape(modser_graph *g, struct msd_cur *c, uint32_t magic, size_t i,
		      struct mxnet_param *p, bool *ret_is_none)
{
	const bool is_legacy = magic != V1 && magic != V2 && magic != V3;
	int32_t ndim = (int32_t)magic;

	if ((magic == V2 || magic == V3) && msd_cur_i32(c) != 0 && !c->bad) {
		return msd_sg_fail(g, MSD_UNSUPPORTED,
				   "array %zu of the parameters is sparse; only dense "
				   "ones can be read",
				   i);
	}
	if (!is_legacy)
		ndim = msd_cur_i32(c);
	*ret_is_none = magic == V3 ? ndim == -1 : ndim == 0;
	if (c->bad || *ret_is_none)
		return c->bad ? fail(g, i, "the file ends in it") : 0;
	if (ndim < 0 || (uint32_t)ndim > MODSER_GRAPH_MAX_NDIM)
		return fail(g, i, "it has no version that is known, or too many axes");
	p->ndim = (size_t)ndim;
	for (size_t k = 0; k < p->ndim; k++) {
		p->dims[k] = is_legacy ? (int64_t)msd_cur_u32(c) : msd_cur_i64(c);
		if (p->dims[k] < 0)
			return fail(g, i, "an extent is less than 0");
	}
	return c->bad ? fail(g, i, "the file ends in its shape") : 0;
}

static int read_array(modser_graph *g, struct msd_cur *c, size_t i,
		      struct mxnet_param *p)
{
	bool is_none = false;
	size_t bytes;
	struct msd_dtype dtype;

	if (read_shape(g, c, msd_cur_u32(c), i, p, &is_none) != 0)
		return -1;
	if (is_none)
		return 0;
	(void)msd_cur_i32(c); /* the device, and its number */
	(void)msd_cur_i32(c);
	const int32_t flag = msd_cur_i32(c);
	p->dtype = mxnet_dtype(flag);
	if (c->bad || p->dtype == NULL) {
		return c->bad ? fail(g, i, "the file ends in it")
			      : msd_sg_fail(g, MSD_UNSUPPORTED,
					    "array %zu of the parameters has element "
					    "type %d of MXNet",
					    i, flag);
	}
	if (!msd_dtype_parse(p->dtype, strlen(p->dtype), &dtype))
		return fail(g, i, "its element type is not known");
	bytes = dtype.bits / 8u;
	for (size_t k = 0; k < p->ndim; k++) {
		if (!msd_mul_size(bytes, (size_t)p->dims[k], &bytes))
			return fail(g, i, "it is too large");
	}
	p->data = (struct msd_span){msd_cur_read(c, bytes), bytes};
	return c->bad ? fail(g, i, "it is longer than the file") : 0;
}

static int read_name(modser_graph *g, struct msd_cur *c, size_t i,
		     struct mxnet_params *ret)
{
	struct mxnet_param *p = &ret->items[i];
	struct msd_span name = msd_cur_str64(c);

	if (c->bad)
		return fail(g, i, "the file ends in its name");
	if (!msd_span_behind(name, "arg:", &name))
		(void)msd_span_behind(name, "aux:", &name);
	p->name = msd_sg_copy(name.n > 0 ? (const char *)name.p : "", name.n);
	if (p->name == NULL)
		return msd_sg_no_memory(g);
	if (msd_names_find(&ret->names, p->name) != NULL)
		return fail(g, i, "its name occurs twice");
	return msd_names_add(&ret->names, p->name, p) ? 0 : msd_sg_no_memory(g);
}

int mxnet_params_read(modser_graph *g, struct msd_span file, struct mxnet_params *ret)
{
	struct msd_cur c = msd_cur_of(file);

	*ret = (struct mxnet_params){0};
	if (msd_cur_u64(&c) != LIST_MAGIC || msd_cur_u64(&c) != 0 || c.bad) {
		return msd_sg_fail(g, MSD_BAD_ARTIFACT,
				   "the parameters do not begin as MXNet's do");
	}
	const size_t n = msd_cur_count64(&c, MIN_ARRAY_BYTES);
	if (c.bad) {
		return msd_sg_fail(g, MSD_BAD_ARTIFACT,
				   "the parameters have more arrays than bytes");
	}
	ret->items = calloc(n + 1, sizeof(*ret->items));
	if (ret->items == NULL)
		return msd_sg_no_memory(g);
	ret->n = n;
	for (size_t i = 0; i < n; i++) {
		if (read_array(g, &c, i, &ret->items[i]) != 0)
			return -1;
	}
	const uint64_t names = msd_cur_u64(&c);
	if (c.bad || names != n) {
		return msd_sg_fail(
			g, MSD_BAD_ARTIFACT,
			"the parameters have %zu arrays and not as many names", n);
	}
	for (size_t i = 0; i < n; i++) {
		if (read_name(g, &c, i, ret) != 0)
			return -1;
	}
	return 0;
}

void mxnet_params_finish(struct mxnet_params *p)
{
	for (size_t i = 0; i < p->n; i++)
		free(p->items[i].name);
	free(p->items);
	msd_names_finish(&p->names);
}
