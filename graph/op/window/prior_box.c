#include "graph/op/window/prior_box.h"

#include <math.h>

#include "graph/ir/infer.h"
#include "graph/op/op.h"
#include "graph/op/window/params.h"

void msd_op_priors_of(const modser_sg_node *node, struct msd_op_priors *ret)
{
	const struct msd_params_prior_box p = msd_params_prior_box(node);
	const int64_t *map = modser_sg_tensor_dims(modser_sg_node_input(node, 0));
	const int64_t *image = modser_sg_tensor_dims(modser_sg_node_input(node, 1));
	const int64_t h = p.img_h;
	const int64_t w = p.img_w;
	const bool is_said = h > 0 && w > 0;

	*ret = (struct msd_op_priors){
		.min_sizes = p.min_size,
		.max_sizes = p.max_size,
		.ratios = p.aspect_ratio,
		.variances = p.variance,
		.flips = p.flip != 0,
		.clips = p.clip != 0,
		.rows = map[2],
		.columns = map[3],
		.image_h = (double)(is_said ? h : image[2]),
		.image_w = (double)(is_said ? w : image[3]),
		.step_h = (double)p.step_h,
		.step_w = (double)p.step_w,
		.offset = (double)p.offset,
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

	for (size_t i = 0; i < p->min_sizes.n; i++) {
		const double min = (double)p->min_sizes.at[i];

		put_box(m, min, min);
		if (p->max_sizes.n > 0) {
			const double size = sqrt(min * (double)p->max_sizes.at[i]);

			put_box(m, size, size);
		}
		for (size_t k = 0; k < p->ratios.n; k++) {
			const double root = sqrt((double)p->ratios.at[k]);

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
		ret[n + i] = p->variances.at[p->variances.n == 4 ? i % 4 : 0];
}

/* Boxes at each position. */
static int64_t count_priors(const struct msd_op_priors *p)
{
	const size_t ratios = p->ratios.n * (p->flips ? 2 : 1);

	return (int64_t)(p->min_sizes.n * (1 + ratios) + p->max_sizes.n);
}

static int infer(modser_sg_node *node)
{
	struct msd_op_priors p;
	int64_t n;

	if (msd_infer_rank(node, 0, 4) != 0 || msd_infer_rank(node, 1, 4) != 0)
		return -1;
	msd_op_priors_of(node, &p);
	if (p.max_sizes.n != 0 && p.max_sizes.n != p.min_sizes.n)
		return msd_infer_fail(node, "it has not a max_size for each min_size");
	if (p.variances.n != 1 && p.variances.n != 4)
		return msd_infer_fail(node, "it has neither one variance nor four");
	if (__builtin_mul_overflow(p.rows * p.columns, 4 * count_priors(&p), &n))
		return msd_infer_fail(node, "it is too large");
	const int64_t dims[] = {1, 2, n, 1};
	return msd_infer_set(node, dims, 4);
}

const modser_sg_op_schema msd_op_prior_box = {
	.name = "PriorBox",
	OP_PARAMS(MSD_PARAMS_PRIOR_BOX),
	OP_IN(2, 2),
	OP_OUT(1, 1),
	.infer = infer,
};
