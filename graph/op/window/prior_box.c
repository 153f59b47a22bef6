#include "graph/op/window/prior_box.h"

#include <math.h>

#include "graph/ir/infer.h"
#include "graph/op/op.h"

static const modser_sg_op_field prior_box_fields[] = {
	OP_FLOATS("min_size"),     OP_FLOATS("max_size"), OP_FLOATS("variance"),
	OP_FLOATS("aspect_ratio"), OP_INT("flip", 0),     OP_INT("clip", 0),
	OP_INT("img_size", 0),     OP_INT("img_h", 0),    OP_INT("img_w", 0),
	OP_FLOAT("step_w", 0),     OP_FLOAT("step_h", 0), OP_FLOAT("offset", 0),
	OP_INT("num_priors", 0),   OP_INT("out_dim", 0),
};
void msd_op_priors_of(const modser_sg_node *node, struct msd_op_priors *ret)
{
	const modser_sg_op *op = modser_sg_node_op(node);
	const int64_t *map = modser_sg_tensor_dims(modser_sg_node_input(node, 0));
	const int64_t *image = modser_sg_tensor_dims(modser_sg_node_input(node, 1));
	const int64_t h = modser_sg_op_int(op, "img_h");
	const int64_t w = modser_sg_op_int(op, "img_w");
	const bool is_said = h > 0 && w > 0;

	*ret = (struct msd_op_priors){
		.min_sizes = modser_sg_op_param(op, "min_size"),
		.max_sizes = modser_sg_op_param(op, "max_size"),
		.ratios = modser_sg_op_param(op, "aspect_ratio"),
		.variances = modser_sg_op_param(op, "variance"),
		.flips = modser_sg_op_int(op, "flip") != 0,
		.clips = modser_sg_op_int(op, "clip") != 0,
		.rows = map[2],
		.columns = map[3],
		.image_h = (double)(is_said ? h : image[2]),
		.image_w = (double)(is_said ? w : image[3]),
		.step_h = (double)modser_sg_op_float(op, "step_h"),
		.step_w = (double)modser_sg_op_float(op, "step_w"),
		.offset = (double)modser_sg_op_float(op, "offset"),
	};
	if (ret->step_h == 0 || ret->step_w == 0) {
		ret->step_h = ret->image_h / (double)ret->rows;
		ret->step_w = ret->image_w / (double)ret->columns;
	}
}

struct maker {
	const struct msd_op_priors *p;
	float *y;
	double centre_x;
	double centre_y;
};

static void put_box(struct maker *m, double width, double height)
{
	*m->y++ = (float)((m->centre_x - width / 2) / m->p->image_w);
	*m->y++ = (float)((m->centre_y - height / 2) / m->p->image_h);
	*m->y++ = (float)((m->centre_x + width / 2) / m->p->image_w);
	*m->y++ = (float)((m->centre_y + height / 2) / m->p->image_h);
}

static void put_boxes(struct maker *m)
{
	const struct msd_op_priors *p = m->p;

	for (size_t i = 0; i < p->min_sizes->n; i++) {
		const double min = (double)p->min_sizes->as.floats[i];

		put_box(m, min, min);
		if (p->max_sizes->n > 0) {
			const double size =
				sqrt(min * (double)p->max_sizes->as.floats[i]);

			put_box(m, size, size);
		}
		for (size_t k = 0; k < p->ratios->n; k++) {
			const double root = sqrt((double)p->ratios->as.floats[k]);

			put_box(m, min * root, min / root);
			if (p->flips)
				put_box(m, min / root, min * root);
		}
	}
}

/* As in SSD: boxes around each position of a feature map, relative to the image, then
 * a variance for each of their corners. */
void msd_op_priors_fill(const struct msd_op_priors *p, size_t n, float *ret)
{
	struct maker m = {.p = p, .y = ret};

	for (int64_t h = 0; h < p->rows; h++) {
		for (int64_t w = 0; w < p->columns; w++) {
			m.centre_x = ((double)w + p->offset) * p->step_w;
			m.centre_y = ((double)h + p->offset) * p->step_h;
			put_boxes(&m);
		}
	}
	for (size_t i = 0; i < n && p->clips; i++)
		ret[i] = ret[i] < 0 ? 0 : ret[i] > 1 ? 1 : ret[i];
	for (size_t i = 0; i < n; i++)
		ret[n + i] = p->variances->as.floats[p->variances->n == 4 ? i % 4 : 0];
}

/* Boxes at each position. */
static int64_t count_priors(const struct msd_op_priors *p)
{
	const size_t ratios = p->ratios->n * (p->flips ? 2 : 1);

	return (int64_t)(p->min_sizes->n * (1 + ratios) + p->max_sizes->n);
}

static int infer(modser_sg_node *node)
{
	struct msd_op_priors p;
	int64_t n;

	if (msd_infer_rank(node, 0, 4) != 0 || msd_infer_rank(node, 1, 4) != 0)
		return -1;
	msd_op_priors_of(node, &p);
	if (p.max_sizes->n != 0 && p.max_sizes->n != p.min_sizes->n)
		return msd_infer_fail(node, "it has not a max_size for each min_size");
	if (p.variances->n != 1 && p.variances->n != 4)
		return msd_infer_fail(node, "it has neither one variance nor four");
	if (__builtin_mul_overflow(p.rows * p.columns, 4 * count_priors(&p), &n))
		return msd_infer_fail(node, "it is too large");
	const int64_t dims[] = {1, 2, n, 1};
	return msd_infer_set(node, dims, 4);
}

const modser_sg_op_schema msd_op_prior_box = {
	.name = "PriorBox",
	OP_FIELDS(prior_box_fields),
	OP_IN(2, 2),
	OP_OUT(1, 1),
	.infer = infer,
};
