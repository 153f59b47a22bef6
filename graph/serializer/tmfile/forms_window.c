/* Convolutions and poolings: extents of kernels and channels, and padding. */
#include <string.h>

#include "graph/ir/graph.h"
#include "graph/op/window/window.h"
#include "graph/serializer/tmfile/plan.h"

/* Kernels, channels and padding of two axes: the parameters of Tengine's structure. */
static int put_window(const struct tm_node *n, const char *channels, int64_t out,
		      const struct msd_op_window *windows)
{
	const struct msd_op_window *h = &windows[1];
	const struct msd_op_window *w = &windows[2];

	if (tm_set_int(n, channels, out) != 0 ||
	    tm_set_int(n, "kernel_h", h->kernel) != 0 ||
	    tm_set_int(n, "kernel_w", w->kernel) != 0)
		return -1;
	return 0;
}

static int put_pads(const struct tm_node *n, const struct msd_op_window *windows)
{
	if (tm_set_int(n, "pad_h0", windows[1].before) != 0 ||
	    tm_set_int(n, "pad_h1", windows[1].after) != 0 ||
	    tm_set_int(n, "pad_w0", windows[2].before) != 0)
		return -1;
	return tm_set_int(n, "pad_w1", windows[2].after);
}

static bool is_known(const modser_sg_tensor *t)
{
	return t != NULL && t->ndim == 4 && t->dims[2] >= 0 && t->dims[3] >= 0;
}

static int write_convolution(struct tm_node *n)
{
	const modser_sg_tensor *w = tm_input(n, 1);
	struct msd_op_window windows[MSD_OP_AXES] = {{0}};

	if (w == NULL || w->ndim != 4)
		return tm_fail(n, "it has two axes");
	windows[1].kernel = w->dims[2];
	windows[2].kernel = w->dims[3];
	return tm_copy(n) != 0 ? -1
			       : put_window(n, "output_channel", w->dims[0], windows);
}

static int write_deconvolution(struct tm_node *n)
{
	const modser_sg_tensor *w = tm_input(n, 1);
	struct msd_op_window windows[MSD_OP_AXES] = {{0}};

	if (w == NULL || w->ndim != 4)
		return tm_fail(n, "it has two axes");
	windows[1].kernel = w->dims[2];
	windows[2].kernel = w->dims[3];
	if (tm_copy(n) != 0)
		return -1;
	return put_window(n, "num_output", w->dims[1] * tm_int(n, "group"), windows);
}

/* The place of @w's last window is the same if it rounds down. */
static bool rounds_down(const struct msd_op_window *w)
{
	const int64_t room = w->in + w->before + w->after - msd_op_window_reach(w);

	return room >= 0 && w->out == room / w->stride + 1;
}

/* ONNX's rounding up is Caffe's, for the largest, and for a mean without padding. */
static int put_ceil(struct tm_node *n, const struct msd_op_window *windows)
{
	const bool is_mean = tm_int(n, "alg") == 1;

	for (size_t i = 1; i < MSD_OP_AXES; i++) {
		const struct msd_op_window *w = &windows[i];

		if (w->before != w->after || (is_mean && w->before != 0))
			return tm_fail(n, "it rounds up with other padding");
	}
	return tm_set_int(n, "caffe_flavor", 1);
}

static int write_pooling(struct tm_node *n)
{
	const bool is_up = tm_int(n, "ceil_mode") != 0;
	const bool keeps = tm_int(n, "auto_pad") != 0;
	struct msd_op_window windows[MSD_OP_AXES];

	if (tm_int(n, "alg") > 1)
		return tm_fail(n, "it has no sums of powers");
	if (tm_keep_output(n, "indices") != 0)
		return -1;
	if (tm_int(n, "global") != 0 || (!is_up && !keeps))
		return 0;
	if (!is_known(tm_input(n, 0)))
		return tm_fail(n, "the shape of its input is not known");
	msd_op_pool_windows(n->from, windows);
	if (tm_copy(n) != 0 || tm_set_int(n, "ceil_mode", 0) != 0 ||
	    tm_set_int(n, "auto_pad", 0) != 0)
		return -1;
	if (keeps)
		return put_pads(n, windows);
	return rounds_down(&windows[1]) && rounds_down(&windows[2])
		       ? 0
		       : put_ceil(n, windows);
}

const struct tm_form tm_forms_window[] = {
	{"Convolution", write_convolution},
	{"Deconvolution", write_deconvolution},
	{"Pooling", write_pooling},
	{NULL, NULL},
};
