#include "graph/op/window/window.h"

#include "graph/ir/infer.h"
#include "graph/op/op.h"

static const char *const pad_fields[2][2] = {{"pad_h0", "pad_w0"},
					     {"pad_h1", "pad_w1"}};

int64_t msd_op_window_reach(const struct msd_op_window *w)
{
	return (w->kernel - 1) * w->dilation + 1;
}

int64_t msd_op_window_param(const modser_sg_node *node,
			    const struct msd_op_window_names *names, size_t i, size_t n,
			    int64_t otherwise)
{
	const modser_sg_op *op = modser_sg_node_op(node);
	const modser_sg_attr *list = modser_sg_op_param(op, names->list);

	if (n == 2 && names->hw[i] != NULL)
		return modser_sg_op_int(op, names->hw[i]);
	return i < list->n ? list->as.ints[i] : otherwise;
}

void msd_op_window_pads(const modser_sg_node *node, size_t i, size_t n,
			struct msd_op_window *ret)
{
	const modser_sg_op *op = modser_sg_node_op(node);
	const modser_sg_attr *list = modser_sg_op_param(op, "pads");

	if (n == 2) {
		ret->before = modser_sg_op_int(op, pad_fields[0][i]);
		ret->after = modser_sg_op_int(op, pad_fields[1][i]);
		return;
	}
	ret->before = list->n > 0 ? list->as.ints[i] : 0;
	ret->after = list->n > 0 ? list->as.ints[n + i] : 0;
}

int msd_op_window_axes(const modser_sg_node *node, size_t *ret)
{
	const size_t ndim = msd_infer_ndim(node, 0);

	if (ndim < 3 || ndim > 2 + MSD_OP_AXES) {
		return msd_infer_fail(
			node, "input 0 has %zu dimensions, expected 3 to 5", ndim);
	}
	*ret = ndim - 2;
	return 0;
}

int msd_op_window_check(const modser_sg_node *node,
			const struct msd_op_window_names *names, size_t n, int64_t min,
			int64_t max)
{
	const modser_sg_attr *list =
		modser_sg_op_param(modser_sg_node_op(node), names->list);

	if (n != 2 && list->n != 0 && list->n != n) {
		return msd_infer_fail(node, "%s has %zu numbers, expected %zu",
				      names->list, list->n, n);
	}
	for (size_t i = 0; i < n; i++) {
		const int64_t v = msd_op_window_param(node, names, i, n, min);

		if (v < min || v > max) {
			return msd_infer_fail(node, "%s is %lld, expected %lld to %lld",
					      n == 2 ? names->hw[i] : names->list,
					      (long long)v, (long long)min,
					      (long long)max);
		}
	}
	return 0;
}

int msd_op_window_check_pads(const modser_sg_node *node, size_t n, int64_t min)
{
	const modser_sg_attr *list =
		modser_sg_op_param(modser_sg_node_op(node), "pads");

	if (n != 2 && list->n != 0 && list->n != 2 * n)
		return msd_infer_fail(node, "pads has %zu numbers", list->n);
	for (size_t i = 0; i < n; i++) {
		struct msd_op_window w = {0};

		msd_op_window_pads(node, i, n, &w);
		if (w.before < min || w.before > INT32_MAX || w.after < min ||
		    w.after > INT32_MAX)
			return msd_infer_fail(node, "its padding cannot be");
	}
	return 0;
}
