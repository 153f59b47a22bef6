/* Eltwise and BroadMul: elementwise on one or two tensors. */
#include <math.h>

#include "graph/op/element/params.h"
#include "runtime/kernel/kernels.h"

enum type { /* numbered as in tmfiles */
	    PROD,
	    PROD_SCALAR,
	    SUM,
	    SUM_SCALAR,
	    SUB,
	    SUB_SCALAR,
	    MAX,
	    RSQRT,
	    MIN_SCALAR,
	    DIV = 10,
	    LOG,
	    EXP,
	    SQRT,
	    FLOOR,
	    SQUARE,
	    POW,
	    POWER
};

/* Mapping from an element of the larger tensor to the operand: element i / step % n. */
struct operand {
	const float *p;
	size_t n;
	size_t step;
};

/*
 * One element for all, one per channel, one per position of a plane, or all elements.
 */
static struct operand operand_of(const struct msd_kernel_call *c, size_t i)
{
	const int64_t *out = msd_kernel_out_dims(c, 0);
	const size_t ndim =
		(size_t)modser_sg_tensor_ndim(modser_sg_node_output(c->node, 0));
	struct operand a = {msd_kernel_in(c, i), msd_kernel_in_elements(c, i), 1};

	if (ndim > 1 && a.n == (size_t)out[1] && a.n < msd_kernel_out_elements(c, 0))
		a.step = msd_kernel_inner(out, ndim, 1);
	return a;
}

static double compute(int64_t type, double a, double b)
{
	switch (type) {
	case PROD:
	case PROD_SCALAR:
		return a * b;
	case SUM:
	case SUM_SCALAR:
		return a + b;
	case SUB:
	case SUB_SCALAR:
		return a - b;
	case MAX:
		return a > b ? a : b;
	case MIN_SCALAR:
		return a < b ? a : b;
	case DIV:
		return a / b;
	case POW:
		return pow(a, b);
	default:
		return a;
	}
}

static double compute_one(int64_t type, double a)
{
	switch (type) {
	case RSQRT:
		return 1 / sqrt(a);
	case LOG:
		return log(a);
	case EXP:
		return exp(a);
	case SQRT:
		return sqrt(a);
	case FLOOR:
		return floor(a);
	case SQUARE:
		return a * a;
	default:
		return a;
	}
}

static void run_two(const struct msd_kernel_call *c, int64_t type)
{
	const struct operand a = operand_of(c, 0);
	const struct operand b = operand_of(c, 1);
	const size_t n = msd_kernel_out_elements(c, 0);

	for (size_t i = 0; i < n; i++) {
		msd_kernel_out(c, 0)[i] =
			(float)compute(type, (double)a.p[i / a.step % a.n],
				       (double)b.p[i / b.step % b.n]);
	}
}

static void run_one(const struct msd_kernel_call *c, int64_t type)
{
	const struct msd_params_eltwise p = msd_params_eltwise(c->node);
	const double shift = (double)p.shift;
	const double power = (double)p.power;
	const double scale = (double)p.scale;
	const size_t n = msd_kernel_out_elements(c, 0);

	for (size_t i = 0; i < n; i++) {
		const double v = (double)msd_kernel_in(c, 0)[i];

		msd_kernel_out(c, 0)[i] =
			(float)(type == POWER ? pow(shift + scale * v, power)
					      : compute_one(type, v));
	}
}

static msd_err run_eltwise(const struct msd_kernel_call *c, struct msd_diag *d)
{
	const int64_t type = msd_params_eltwise(c->node).type;

	(void)d;
	if (modser_sg_node_input_count(c->node) == 2) {
		run_two(c, type);
	} else {
		run_one(c, type);
	}
	return MSD_OK;
}

static msd_err run_broad_mul(const struct msd_kernel_call *c, struct msd_diag *d)
{
	(void)d;
	run_two(c, PROD);
	return MSD_OK;
}

const struct msd_kernel msd_kernel_eltwise = {"Eltwise", run_eltwise,
					      MSD_TAKES_FLOAT32};
const struct msd_kernel msd_kernel_broad_mul = {"BroadMul", run_broad_mul,
						MSD_TAKES_FLOAT32};
