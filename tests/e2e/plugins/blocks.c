/*
 * An engine with a layout of its own, written against the installed headers alone:
 * images of float32 with channels in blocks of 8, "NCHW8c". It computes Convolution,
 * ReLu, Add and the global mean. A tensor of the layout has ceil(channels / 8) blocks;
 * the channels that fill the last one are zeros.
 */
#include <modserd_plugin.h>
#include <stdio.h>
#include <string.h>

enum { BLOCK = 8 };

/* Extents of a tensor of 4 dimensions; float strides of an image and of a block. */
struct image {
	size_t n, c, h, w;
	size_t blocks, plane;
};

static const modserd_host *our_host;

static struct image image_of(const modser_sg_tensor *t)
{
	const int64_t *dims = modser_sg_tensor_dims(t);
	struct image i = {(size_t)dims[0],
			  (size_t)dims[1],
			  (size_t)dims[2],
			  (size_t)dims[3],
			  0,
			  0};

	i.blocks = (i.c + BLOCK - 1) / BLOCK;
	i.plane = i.h * i.w;
	return i;
}

static int is_image(const modser_sg_tensor *t)
{
	return modser_sg_tensor_ndim(t) == 4 &&
	       strcmp(modser_sg_tensor_dtype(t), "float32") == 0;
}

/* ---- The layout ---- */

static size_t bytes(const modser_sg_tensor *t)
{
	if (!is_image(t))
		return 0;
	const struct image i = image_of(t);
	return i.n * i.blocks * i.plane * BLOCK * sizeof(float);
}

/* Where channel @c of image @n begins. */
static size_t row_of(const struct image *i, size_t n, size_t c)
{
	return (n * i->c + c) * i->plane;
}

static size_t block_of(const struct image *i, size_t n, size_t block)
{
	return (n * i->blocks + block) * i->plane * BLOCK;
}

static int from_rows(const modser_sg_tensor *t, const void *rows, void *ret,
		     char *ret_why, size_t why_bytes)
{
	const struct image i = image_of(t);
	const float *in = rows;
	float *out = ret;

	(void)ret_why;
	(void)why_bytes;
	for (size_t n = 0; n < i.n; n++) {
		for (size_t c = 0; c < i.blocks * BLOCK; c++) {
			float *to = out + block_of(&i, n, c / BLOCK) + c % BLOCK;

			for (size_t p = 0; p < i.plane; p++) {
				to[p * BLOCK] = c < i.c ? in[row_of(&i, n, c) + p] : 0;
			}
		}
	}
	return 0;
}

static int to_rows(const modser_sg_tensor *t, const void *from, void *ret_rows,
		   char *ret_why, size_t why_bytes)
{
	const struct image i = image_of(t);
	const float *in = from;
	float *out = ret_rows;

	(void)ret_why;
	(void)why_bytes;
	for (size_t n = 0; n < i.n; n++) {
		for (size_t c = 0; c < i.c; c++) {
			const float *at = in + block_of(&i, n, c / BLOCK) + c % BLOCK;

			for (size_t p = 0; p < i.plane; p++)
				out[row_of(&i, n, c) + p] = at[p * BLOCK];
		}
	}
	return 0;
}

static const modserd_layout blocked = {sizeof(blocked), "NCHW8c", bytes, from_rows,
				       to_rows};

/* ---- The engine ---- */

enum op { CONVOLUTION, RELU, ADD, MEAN, N_OPS };
static const char *const ops[N_OPS] = {"Convolution", "ReLu", "Add", "Pooling"};

/* The state of a node is one of these. */
static enum op kinds[N_OPS] = {CONVOLUTION, RELU, ADD, MEAN};

static enum op op_of(const void *state)
{
	return *(const enum op *)state;
}

static size_t list_of(const modser_sg_op *op, const char *param)
{
	return modser_sg_op_param(op, param)->n;
}

static int is_ours(const modser_sg_op *op, enum op kind)
{
	switch (kind) {
	case CONVOLUTION:
		return modser_sg_op_int(op, "group") == 1 &&
		       modser_sg_op_int(op, "activation") < 0 &&
		       modser_sg_op_int(op, "dilation_h") == 1 &&
		       modser_sg_op_int(op, "dilation_w") == 1 &&
		       modser_sg_op_int(op, "pad_h0") >= 0 &&
		       modser_sg_op_int(op, "pad_w0") >= 0 &&
		       list_of(op, "strides") + list_of(op, "pads") +
				       list_of(op, "dilations") ==
			       0;
	case RELU:
		return modser_sg_op_float(op, "negative_slope") == 0;
	case MEAN:
		return modser_sg_op_int(op, "alg") == 1 &&
		       modser_sg_op_int(op, "global") == 1;
	case ADD:
	case N_OPS:
		break;
	}
	return 1;
}

static int take(const modser_sg_node *node, void **ret_state, char *ret_why,
		size_t why_bytes)
{
	const modser_sg_op *op = modser_sg_node_op(node);

	(void)ret_why;
	(void)why_bytes;
	for (int i = 0; i < N_OPS; i++) {
		if (strcmp(modser_sg_op_name(op), ops[i]) != 0)
			continue;
		*ret_state = &kinds[i];
		return is_ours(op, kinds[i]);
	}
	return 0;
}

static int validate(void *state, const modser_sg_node *node, char *ret_why,
		    size_t why_bytes)
{
	const modser_sg_tensor *x = modser_sg_node_input(node, 0);
	const modser_sg_tensor *y = modser_sg_node_output(node, 0);
	int is_fine = is_image(x) && is_image(y);

	if (op_of(state) == ADD) {
		const modser_sg_tensor *b = modser_sg_node_input(node, 1);

		is_fine = is_fine && is_image(b) &&
			  memcmp(modser_sg_tensor_dims(x), modser_sg_tensor_dims(b),
				 4 * sizeof(int64_t)) == 0;
	}
	if (!is_fine)
		(void)snprintf(ret_why, why_bytes, "not images of float32");
	return is_fine;
}

/* A convolution wants blocks and the mean writes rows; the others keep what is there.
 */
static int lay_out(void *state, const modser_sg_node *node, const modserd_layout **in,
		   const modserd_layout **out)
{
	(void)node;
	switch (op_of(state)) {
	case CONVOLUTION:
		in[0] = out[0] = &blocked;
		break;
	case RELU:
		out[0] = in[0];
		break;
	case ADD:
		if (in[0] != NULL || in[1] != NULL)
			in[0] = in[1] = out[0] = &blocked;
		break;
	case MEAN:
	case N_OPS:
		break;
	}
	return 1;
}

/* A tensor of a run in either layout: one channel of it has a stride. */
struct view {
	struct image i;
	int is_blocked;
};

static struct view view_of(const modser_sg_tensor *t, const modserd_layout *const *list,
			   size_t k)
{
	return (struct view){image_of(t), list != NULL && list[k] != NULL};
}

static size_t channel(const struct view *v, size_t n, size_t c)
{
	return v->is_blocked ? block_of(&v->i, n, c / BLOCK) + c % BLOCK
			     : row_of(&v->i, n, c);
}

static size_t stride(const struct view *v)
{
	return v->is_blocked ? BLOCK : 1;
}

struct conv {
	const float *x, *w, *b;
	float *y;
	struct view in, out;
	size_t kh, kw;
	int64_t sh, sw, ph, pw;
};

static float sum_at(const struct conv *v, size_t n, size_t o, int64_t y, int64_t x)
{
	const struct image *i = &v->in.i;
	float sum = v->b != NULL ? v->b[o] : 0;

	for (size_t c = 0; c < i->c; c++) {
		const float *in = v->x + channel(&v->in, n, c);

		for (size_t k = 0; k < v->kh * v->kw; k++) {
			const int64_t iy = y * v->sh - v->ph + (int64_t)(k / v->kw);
			const int64_t ix = x * v->sw - v->pw + (int64_t)(k % v->kw);

			if (iy < 0 || ix < 0 || iy >= (int64_t)i->h ||
			    ix >= (int64_t)i->w)
				continue;
			sum += in[((size_t)iy * i->w + (size_t)ix) * stride(&v->in)] *
			       v->w[(o * i->c + c) * v->kh * v->kw + k];
		}
	}
	return sum;
}

/* Part @at: one channel of one image. Channels that fill a block become zeros. */
static void convolve(const void *ctx, size_t at)
{
	const struct conv *v = ctx;
	const struct image *i = &v->out.i;
	const size_t channels = v->out.is_blocked ? i->blocks * BLOCK : i->c;
	const size_t n = at / channels, o = at % channels;
	float *out = v->y + channel(&v->out, n, o);

	for (size_t p = 0; p < i->plane; p++) {
		out[p * stride(&v->out)] =
			o < i->c ? sum_at(v, n, o, (int64_t)(p / i->w),
					  (int64_t)(p % i->w))
				 : 0;
	}
}

static void run_convolution(const modserd_kernel_call *call, const struct view *in,
			    const struct view *out)
{
	const modser_sg_node *node = call->node;
	const modser_sg_op *op = modser_sg_node_op(node);
	const int64_t *w = modser_sg_tensor_dims(modser_sg_node_input(node, 1));
	const size_t channels = out->is_blocked ? out->i.blocks * BLOCK : out->i.c;
	const struct conv v = {
		.x = call->in[0],
		.w = call->in[1],
		.b = modser_sg_node_input_count(node) > 2 ? call->in[2] : NULL,
		.y = call->out[0],
		.in = *in,
		.out = *out,
		.kh = (size_t)w[2],
		.kw = (size_t)w[3],
		.sh = modser_sg_op_int(op, "stride_h"),
		.sw = modser_sg_op_int(op, "stride_w"),
		.ph = modser_sg_op_int(op, "pad_h0"),
		.pw = modser_sg_op_int(op, "pad_w0"),
	};
	const size_t sums = out->i.plane * in->i.c * v.kh * v.kw;

	our_host->parallel(out->i.n * channels, sums, convolve, &v);
}

/* Elements of @b are added if it is not NULL, else negative ones become 0. Both inputs
 * have the layout of the output, so the order does not matter. */
static void run_elements(const float *a, const float *b, float *out,
			 const struct view *v)
{
	const struct image *i = &v->i;
	const size_t channels = v->is_blocked ? i->blocks * BLOCK : i->c;

	for (size_t k = 0; k < i->n * channels * i->plane; k++)
		out[k] = b != NULL ? a[k] + b[k] : a[k] > 0 ? a[k] : 0;
}

static void run_mean(const float *x, float *out, const struct view *in)
{
	for (size_t k = 0; k < in->i.n * in->i.c; k++) {
		const float *at = x + channel(in, k / in->i.c, k % in->i.c);
		double sum = 0;

		for (size_t p = 0; p < in->i.plane; p++)
			sum += at[p * stride(in)];
		out[k] = (float)(sum / (double)in->i.plane);
	}
}

static int run(void *state, const modserd_kernel_call *call, char *ret_why,
	       size_t why_bytes)
{
	const struct view in =
		view_of(modser_sg_node_input(call->node, 0), call->in_layouts, 0);
	const struct view out =
		view_of(modser_sg_node_output(call->node, 0), call->out_layouts, 0);

	(void)ret_why;
	(void)why_bytes;
	switch (op_of(state)) {
	case CONVOLUTION:
		run_convolution(call, &in, &out);
		break;
	case RELU:
		run_elements(call->in[0], NULL, call->out[0], &out);
		break;
	case ADD:
		run_elements(call->in[0], call->in[1], call->out[0], &out);
		break;
	case MEAN:
	case N_OPS:
		run_mean(call->in[0], call->out[0], &in);
		break;
	}
	return 0;
}

static const modserd_engine engine = {.size = sizeof(engine),
				      .name = "blocks",
				      .take = take,
				      .run = run,
				      .validate = validate,
				      .lay_out = lay_out};

static int add(const modserd_host *host, char *ret_why, size_t why_bytes)
{
	(void)ret_why;
	(void)why_bytes;
	our_host = host;
	return host->add_engine(&engine);
}

MODSERD_PLUGIN_BRINGS("engine blocks\n");
MODSERD_PLUGIN_EXPORT const modserd_plugin modserd_plugin_entry = {
	MODSERD_PLUGIN_ABI, sizeof(modserd_plugin), "blocks", "1.0", add};
