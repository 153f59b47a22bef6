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

/* Tengine's flavors, and with them a padding that keeps the extent. */
enum { FLOOR, CEIL, DARKNET, SAME, N_FLAVORS };
#define PAD_SAME (-1)

/* The padding that is written: one end's, or the sum of both for Darknet's pools. */
static int64_t pad_of(const struct msd_op_window *w, int64_t flavor)
{
	return flavor == SAME      ? PAD_SAME
	       : flavor == DARKNET ? w->before + w->after
				   : w->before;
}

/* True if Tengine, which looks at the first padding alone, has the places of @w. */
static bool has_places(const struct msd_op_window *w, int64_t flavor)
{
	const int64_t pad = pad_of(w, flavor);
	const int64_t room = w->in - w->kernel + (flavor == DARKNET ? pad : 2 * pad);
	const int64_t more = (w->out - 1) * w->stride + w->kernel - w->in;
	int64_t out = room < 0 ? -1 : 1 + room / w->stride;

	if (flavor == SAME) {
		return w->out == 1 + (w->in - 1) / w->stride &&
		       w->before == (more < 0 ? 0 : more / 2);
	}
	if (flavor == CEIL && room >= 0) {
		out = 1 + (room + w->stride - 1) / w->stride;
		if (pad > 0 && (out - 1) * w->stride >= w->in + pad)
			out--;
	}
	return w->out == out && (flavor != DARKNET || w->before == pad / 2);
}

/* A mean counts padding in each flavor but the first, as far behind the input as before
 * it; with the same padding at both ends it is ONNX's. */
static bool counts_alike(const struct tm_node *n, int64_t flavor,
			 const struct msd_op_window *w)
{
	const bool counts = (tm_int(n, "caffe_flavor") & 0x10) != 0;
	const bool is_even = w->before == w->after;

	if (tm_int(n, "alg") != 1)
		return true;
	if (counts)
		return is_even && flavor == FLOOR;
	return flavor == FLOOR || flavor == SAME || w->before == 0;
}

static bool is_flavor(const struct tm_node *n, int64_t flavor,
		      const struct msd_op_window *windows)
{
	for (size_t i = 1; i < MSD_OP_AXES; i++) {
		if (!has_places(&windows[i], flavor) ||
		    !counts_alike(n, flavor, &windows[i]))
			return false;
	}
	return true;
}

static int put_flavor(struct tm_node *n, const struct msd_op_window *windows)
{
	int64_t flavor = FLOOR;

	if (tm_int(n, "auto_pad") != 0 && is_flavor(n, SAME, windows))
		flavor = SAME;
	while (flavor < N_FLAVORS && !is_flavor(n, flavor, windows))
		flavor++;
	if (flavor == N_FLAVORS)
		return tm_fail(n, "it has no such padding");
	const int64_t pad_h = pad_of(&windows[1], flavor);
	const int64_t pad_w = pad_of(&windows[2], flavor);
	const int64_t counts = tm_int(n, "caffe_flavor") & 0x10;
	if (tm_set_int(n, "caffe_flavor", (flavor == SAME ? FLOOR : flavor) | counts) !=
		    0 ||
	    tm_set_int(n, "pad_h0", pad_h) != 0 ||
	    tm_set_int(n, "pad_h1", pad_h) != 0 || tm_set_int(n, "pad_w0", pad_w) != 0)
		return -1;
	return tm_set_int(n, "pad_w1", pad_w);
}

static int write_pooling(struct tm_node *n)
{
	const modser_sg_tensor *x = tm_input(n, 0);
	struct msd_op_window windows[MSD_OP_AXES];

	if (tm_int(n, "alg") > 1)
		return tm_fail(n, "it has no sums of powers");
	if (tm_keep_output(n, "indices") != 0)
		return -1;
	if (x == NULL || x->ndim != 4)
		return tm_fail(n, "it has two axes");
	const bool is_own = tm_int(n, "ceil_mode") == 0 && tm_int(n, "auto_pad") == 0;
	const bool is_even = tm_int(n, "pad_h0") == tm_int(n, "pad_h1") &&
			     tm_int(n, "pad_w0") == tm_int(n, "pad_w1");
	/* Another flavor is Caffe's or Darknet's already. */
	if (tm_int(n, "global") != 0 ||
	    (is_own && (is_even || (tm_int(n, "caffe_flavor") & 0xf) != 0)))
		return 0;
	if (!is_known(x))
		return tm_fail(n, "the shape of its input is not known");
	msd_op_pool_windows(n->from, windows);
	if (windows[1].dilation != 1 || windows[2].dilation != 1)
		return tm_fail(n, "it has no dilation");
	if (tm_copy(n) != 0 || tm_set_int(n, "ceil_mode", 0) != 0 ||
	    tm_set_int(n, "auto_pad", 0) != 0)
		return -1;
	return put_flavor(n, windows);
}

const struct tm_form tm_forms_window[] = {
	{"Convolution", write_convolution},
	{"Deconvolution", write_deconvolution},
	{"Pooling", write_pooling},
	{NULL, NULL},
};
