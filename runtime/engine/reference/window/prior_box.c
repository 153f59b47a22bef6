/* PriorBox as in SSD: boxes around each position of a feature map, relative to the
 * image, then a variance for each of their corners. */
#include "graph/op/window/prior_box.h"

#include <math.h>

#include "runtime/kernel/kernels.h"

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

static msd_err run(const struct msd_kernel_call *c, struct msd_diag *d)
{
	struct msd_op_priors p;

	(void)d;
	msd_op_priors_of(c->node, &p);
	const size_t n = (size_t)msd_kernel_out_dims(c, 0)[2];
	struct maker m = {.p = &p, .y = msd_kernel_out(c, 0)};
	for (int64_t h = 0; h < p.rows; h++) {
		for (int64_t w = 0; w < p.columns; w++) {
			m.centre_x = ((double)w + p.offset) * p.step_w;
			m.centre_y = ((double)h + p.offset) * p.step_h;
			put_boxes(&m);
		}
	}
	for (size_t i = 0; i < n && p.clips; i++) {
		msd_kernel_out(c, 0)[i] = msd_kernel_out(c, 0)[i] < 0 ? 0
					  : msd_kernel_out(c, 0)[i] > 1
						  ? 1
						  : msd_kernel_out(c, 0)[i];
	}
	for (size_t i = 0; i < n; i++) {
		msd_kernel_out(c, 0)[n + i] =
			p.variances->as.floats[p.variances->n == 4 ? i % 4 : 0];
	}
	return MSD_OK;
}

const struct msd_kernel msd_kernel_prior_box = {"PriorBox", run, MSD_TAKES_FLOAT32};
