/*
 * Transposed convolutions: the weights of some output channels, one tap per row, times
 * the input, one position per column. Then the products of each tap are added to the
 * outputs that it reaches. A part is a block of channels in a stripe of the output, so
 * that its products stay in the cache; products that two stripes need are computed
 * twice.
 */
#include <stdlib.h>

#include "graph/op/window/params.h"
#include "graph/op/window/window.h"
#include "runtime/engine/native/claim.h"
#include "runtime/engine/native/select.h"
#include "runtime/engine/native/work.h"

enum {
	ROWS = 96,          /* of products in a part, more if one channel has more */
	PRODUCTS = 1 << 16, /* in a part, more if few columns would be repeated often */
	ALIGNMENT = 16      /* floats */
};

struct packed {
	struct msd_native_packed base;
	size_t block; /* channels */
	size_t block_floats;
};

struct deconvolution {
	const struct msd_native_kernels *k;
	const struct packed *packed;
	struct msd_native_spread s;
	size_t axis;    /* that is divided into stripes */
	size_t stripe;  /* outputs */
	size_t columns; /* the most that a part has */
	size_t inner;   /* input positions of one step along the axis */
	size_t group_in, group_out, groups, blocks, stripes;
	size_t in_plane, out_plane, taps;
	const float *x; /* of the image */
	const float *bias;
	float *y;
	float *panels; /* the inputs of all groups */
	size_t group_panels;
	float *scratch;
	size_t scratch_floats; /* per thread */
};

static bool may(const modser_sg_node *node)
{
	return msd_native_all_single(node) && msd_native_constant(node, 1) != NULL;
}

static size_t group_count(const modser_sg_node *node)
{
	return (size_t)msd_params_deconvolution(node).group;
}

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

static size_t divide_up(size_t a, size_t b)
{
	return b > 0 ? (a + b - 1) / b : 0;
}

/* The weights of a group lie by input channel, output channel and tap. */
static bool pack(const modser_sg_node *node, struct msd_native_packed **ret)
{
	const struct msd_native_kernels *k = msd_native_kernels();
	const modser_sg_tensor *weights = modser_sg_node_input(node, 1);
	const int64_t *dims = modser_sg_tensor_dims(weights);
	const size_t taps =
		msd_native_count(dims, 2, (size_t)modser_sg_tensor_ndim(weights));
	const size_t groups = group_count(node);
	const size_t group_in = (size_t)dims[0] / groups;
	const size_t out = (size_t)dims[1];
	const size_t block = taps < ROWS ? least(ROWS / taps, out + (out == 0)) : 1;
	const size_t floats = k->pack_a_floats(block * taps, group_in);
	const size_t blocks = divide_up(out, block);
	const float *w = msd_native_constant(node, 1);
	bool is_packed = false;
	struct packed *p = msd_native_packed_new(node, "matrix", sizeof(*p),
						 groups * blocks * floats, &is_packed);

	if (p == NULL)
		return false;
	*ret = &p->base;
	p->block = block;
	p->block_floats = floats;
	if (is_packed)
		return true;
	float *to = p->base.weights;
	for (size_t g = 0; g < groups; g++, w += group_in * out * taps) {
		for (size_t first = 0; first < out; first += block, to += floats) {
			k->pack_a(w + first * taps, 1, out * taps,
				  least(block, out - first) * taps, group_in, NULL, to);
		}
	}
	return true;
}

static void set_axes(const modser_sg_node *node, struct deconvolution *c)
{
	struct msd_op_window axes[MSD_OP_AXES];
	struct msd_native_spread *s = &c->s;

	msd_op_deconv_windows(node, axes);
	c->in_plane = 1;
	c->out_plane = 1;
	c->taps = 1;
	c->inner = 1;
	for (size_t i = MSD_OP_AXES; i > 0; i--) {
		const struct msd_op_window *a = &axes[i - 1];

		s->in[i - 1] = (size_t)a->in;
		s->out[i - 1] = (size_t)a->out;
		s->kernel[i - 1] = (size_t)a->kernel;
		s->stride[i - 1] = (size_t)a->stride;
		s->dilation[i - 1] = (size_t)a->dilation;
		s->before[i - 1] = (size_t)a->before;
		s->to[i - 1] = (size_t)a->out;
		if (i == MSD_OP_AXES || a->in != 1 || a->out != 1) {
			c->axis = i - 1;
			c->inner = c->in_plane;
		}
		c->in_plane *= (size_t)a->in;
		c->out_plane *= (size_t)a->out;
		c->taps *= (size_t)a->kernel;
	}
}

/* Stripes of equal inputs, many more than those that two of them need. */
static void divide(struct deconvolution *c)
{
	const size_t i = c->axis;
	const struct msd_native_spread *s = &c->s;
	const size_t shared = (s->kernel[i] - 1) * s->dilation[i] / s->stride[i] + 1;
	const size_t fits =
		PRODUCTS / (c->packed->block * c->taps) / (c->inner > 0 ? c->inner : 1);
	const size_t wanted = fits > 4 * shared ? fits : 4 * shared;
	const size_t parts = divide_up(s->in[i], wanted);
	const size_t step = divide_up(s->in[i], parts > 0 ? parts : 1);

	c->stripe = step > 0 ? step * s->stride[i] : s->out[i];
	c->stripes = divide_up(s->out[i], c->stripe);
	c->columns = least((step + shared) * c->inner, c->in_plane) + c->k->panel;
}

static void bring(const void *ctx, size_t first, size_t end, size_t thread)
{
	const struct deconvolution *c = ctx;
	const size_t panel = c->k->panel;
	const size_t panels = divide_up(c->in_plane, panel);

	(void)thread;
	for (size_t i = first; panels > 0 && i < end; i++) {
		const size_t n = i % panels * panel;
		const float *x = c->x + i / panels * c->group_in * c->in_plane;

		c->k->pack_b(x + n, c->in_plane, 1, c->group_in,
			     least(panel, c->in_plane - n),
			     c->panels + i / panels * c->group_panels +
				     n * c->group_in);
	}
}

/* The parts of a thread's scratch memory. */
struct room {
	float *product, *columns, *row;
	const float **rows;
};

static size_t align(size_t n)
{
	return divide_up(n, ALIGNMENT) * ALIGNMENT;
}

/* Returns the floats of it. */
static size_t lay(const struct deconvolution *c, float *at, struct room *ret)
{
	const size_t columns = align(c->packed->block * c->taps * c->columns);
	const size_t row =
		c->s.stride[2] *
		MSD_NATIVE_SPREAD_ROOM(divide_up(c->s.out[2], c->s.stride[2]));
	const size_t pointers = align(c->s.kernel[0] * c->s.kernel[1] *
				      sizeof(float *) / sizeof(float));
	const size_t product = align(*c->k->product_scratch);

	if (ret != NULL) {
		ret->rows = (const float **)(void *)at;
		ret->columns = at + pointers;
		ret->row = ret->columns + columns;
		ret->product = ret->row + row;
	}
	return pointers + columns + row + product;
}

/* Outputs @from .. of a stripe; columns @n0 .. @n1 - 1 of the products reach them. */
static void find_columns(const struct deconvolution *c, struct msd_native_spread *s,
			 size_t *n0, size_t *n1)
{
	const size_t i = c->axis;
	const size_t reach = (s->kernel[i] - 1) * s->dilation[i];
	const size_t low = s->from[i] + s->before[i];
	const size_t first = low > reach ? divide_up(low - reach, s->stride[i]) : 0;
	const size_t end =
		least((s->to[i] - 1 + s->before[i]) / s->stride[i] + 1, s->in[i]);

	*n0 = first * c->inner / c->k->panel * c->k->panel;
	*n1 = first < end ? end * c->inner : *n0;
	s->pitch = *n1 - *n0;
	s->skipped = *n0;
}

static void run_part(const struct deconvolution *c, size_t i, const struct room *room)
{
	const size_t stripe = i % c->stripes * c->stripe;
	const size_t block = i / c->stripes % c->blocks;
	const size_t group = i / c->stripes / c->blocks;
	const size_t first = block * c->packed->block;
	const size_t count = least(c->packed->block, c->group_out - first);
	struct msd_native_spread s = c->s;
	size_t n0, n1;

	s.from[c->axis] = stripe;
	s.to[c->axis] = least(stripe + c->stripe, s.out[c->axis]);
	find_columns(c, &s, &n0, &n1);
	const struct msd_native_product p = {
		.m = count * c->taps,
		.n = c->in_plane,
		.k = c->group_in,
		.packed_a = c->packed->base.weights +
			    (group * c->blocks + block) * c->packed->block_floats,
		.packed_b = c->panels + group * c->group_panels,
		.y = room->columns - n0,
		.y_row = s.pitch,
	};
	if (n0 < n1)
		c->k->product(&p, 0, p.m, n0, n1, room->product);
	for (size_t k = 0; k < count; k++) {
		const size_t channel = group * c->group_out + first + k;

		c->k->spread(&s, room->columns + k * c->taps * s.pitch,
			     c->bias != NULL ? c->bias[channel] : 0, room->rows,
			     room->row, c->y + channel * c->out_plane);
	}
}

static void run_parts(const void *ctx, size_t first, size_t end, size_t thread)
{
	const struct deconvolution *c = ctx;
	struct room room;

	(void)lay(c, c->scratch + thread * c->scratch_floats, &room);
	for (size_t i = first; i < end; i++)
		run_part(c, i, &room);
}

static void run_image(const struct deconvolution *c)
{
	const double rows = (double)(c->packed->block * c->taps);
	const size_t panels = divide_up(c->in_plane, c->k->panel);

	msd_native_each(c->groups * panels, 0.2 * (double)(c->group_in * c->k->panel),
			bring, c);
	msd_native_each(c->groups * c->blocks * c->stripes,
			rows * (double)c->columns * ((double)c->group_in / 32 + 1),
			run_parts, c);
}

static msd_err run(const struct msd_kernel_call *call,
		   const struct msd_native_packed *packed, struct msd_diag *d)
{
	const int64_t *x = msd_kernel_in_dims(call, 0);
	const size_t groups = group_count(call->node);
	struct deconvolution c = {
		.k = msd_native_kernels(),
		.packed = (const struct packed *)packed,
		.group_in = (size_t)x[1] / groups,
		.group_out = (size_t)msd_kernel_in_dims(call, 1)[1],
		.groups = groups,
		.bias = msd_kernel_has(call, 2) ? call->in[2] : NULL,
	};

	set_axes(call->node, &c);
	c.blocks = divide_up(c.group_out, c.packed->block);
	divide(&c);
	c.group_panels = align(c.k->pack_b_floats(c.group_in, c.in_plane));
	c.scratch_floats = lay(&c, NULL, NULL);
	float *room = msd_native_scratch_take(groups * c.group_panels +
					      msd_native_threads() * c.scratch_floats);
	if (room == NULL)
		return msd_diag_no_memory(d);
	c.panels = room;
	c.scratch = room + groups * c.group_panels;
	for (size_t i = 0; i < (size_t)x[0]; i++) {
		c.x = msd_kernel_in(call, 0) + i * (size_t)x[1] * c.in_plane;
		c.y = msd_kernel_out(call, 0) + i * groups * c.group_out * c.out_plane;
		run_image(&c);
	}
	msd_native_scratch_give(room);
	return MSD_OK;
}

const struct msd_native_claim msd_native_deconvolution = {"Deconvolution", may, pack,
							  run, 1u << 1};
