/* Convolutions and poolings of three axes. */
#include <string.h>

#include "graph/ir/graph.h"
#include "graph/serializer/tensorflow/layer.h"

enum { AXES = 3, ALL = AXES + 2 };

static bool is_last(const struct tf_layer *x)
{
	return !tf_is(x, "data_format", "NCDHW");
}

static modser_sg_tensor *to_volumes(const struct tf_layer *x, size_t i)
{
	static const int64_t perm[] = {0, 4, 1, 2, 3};
	modser_sg_tensor *t = tf_in(x, i);

	return t != NULL && is_last(x) ? tf_transpose(x, t, perm, ALL) : t;
}

static modser_sg_tensor *from_volumes(const struct tf_layer *x, modser_sg_tensor *t)
{
	static const int64_t perm[] = {0, 2, 3, 4, 1};

	return t != NULL && is_last(x) ? tf_transpose(x, t, perm, ALL) : t;
}

/* The list @name of the node, for the three axes, as parameter @param. */
static modser_sg_tensor *put(const struct tf_layer *x, modser_sg_tensor *t,
			     const char *name, const char *param)
{
	int64_t list[ALL] = {1, 1, 1, 1, 1};

	(void)tf_list(x, name, list, ALL);
	if (t != NULL && (list[0] != 1 || list[is_last(x) ? 4 : 1] != 1))
		return tf_fail(x, "%s are of the batch or of channels", name);
	return msd_build_list(t, param, list + (is_last(x) ? 1 : 2), AXES);
}

static modser_sg_tensor *load_conv(struct tf_layer *x)
{
	static const int64_t perm[] = {4, 3, 0, 1, 2};
	static const int64_t same[] = {-1, -1, -1, -1, -1, -1};
	modser_sg_tensor *in[] = {to_volumes(x, 0), NULL};

	in[1] = in[0] != NULL ? tf_turned(x, tf_in(x, 1), perm, ALL) : NULL;
	if (in[1] == NULL)
		return NULL;
	const modser_sg_tensor *w = in[1];
	if (w->ndim != ALL || w->dims[0] < 0 || w->dims[1] < 1)
		return tf_fail(x, "its weights are not known before a call");
	modser_sg_tensor *t = msd_build_node(&x->b, "Convolution", in, 2);
	t = put(x, put(x, t, "strides", "strides"), "dilations", "dilations");
	t = msd_build_list(t, "kernel", w->dims + 2, AXES);
	t = msd_build_int(t, "output_channel", w->dims[0]);
	if (in[0]->ndim == ALL && in[0]->dims[1] > 0)
		t = msd_build_int(t, "group", in[0]->dims[1] / w->dims[1]);
	if (tf_is(x, "padding", "SAME"))
		t = msd_build_list(t, "pads", same, 6);
	return from_volumes(x, tf_done(t));
}

static modser_sg_tensor *load_pool(struct tf_layer *x)
{
	modser_sg_tensor *volumes = to_volumes(x, 0);
	modser_sg_tensor *t = msd_build_node(&x->b, "Pooling", &volumes, 1);

	t = put(x, msd_build_int(t, "alg", x->row->type), "ksize", "kernel");
	t = put(x, t, "strides", "strides");
	if (tf_is(x, "padding", "SAME"))
		t = msd_build_int(t, "auto_pad", 1);
	return from_volumes(x, tf_done(t));
}

const struct tf_row tf_rows_volume[] = {
	{"AvgPool3D", 1, 1, .one = load_pool, .type = 1},
	{"Conv3D", 2, 2, .one = load_conv},
	{"MaxPool3D", 1, 1, .one = load_pool, .type = 0},
	{0},
};
