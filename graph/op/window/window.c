#include "graph/op/window/window.h"

#include "graph/ir/infer.h"

int64_t msd_op_window_reach(const struct msd_op_window *w)
{
	return (w->kernel - 1) * w->dilation + 1;
}

void msd_op_padding_at(const struct msd_op_padding *p, size_t i, size_t n,
		       struct msd_op_window *ret)
{
	if (n == 2) {
		ret->before = p->before[i];
		ret->after = p->after[i];
		return;
	}
	ret->before = p->list.n > 0 ? p->list.at[i] : 0;
	ret->after = p->list.n > 0 ? p->list.at[n + i] : 0;
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

int msd_op_each_check(const modser_sg_node *node, const struct msd_op_each *e, size_t n,
		      int64_t min, int64_t max)
{
	if (n != 2 && e->list.n != 0 && e->list.n != n) {
		return msd_infer_fail(node, "%s has %zu numbers, expected %zu", e->name,
				      e->list.n, n);
	}
	for (size_t i = 0; i < n; i++) {
		const int64_t v = msd_op_each_at(e, i, n, min);

		if (v < min || v > max) {
			return msd_infer_fail(node, "%s is %lld, expected %lld to %lld",
					      n == 2 ? e->hw_names[i] : e->name,
					      (long long)v, (long long)min,
					      (long long)max);
		}
	}
	return 0;
}

int msd_op_padding_check(const modser_sg_node *node, const struct msd_op_padding *p,
			 size_t n, int64_t min)
{
	if (n != 2 && p->list.n != 0 && p->list.n != 2 * n)
		return msd_infer_fail(node, "pads has %zu numbers", p->list.n);
	for (size_t i = 0; i < n; i++) {
		struct msd_op_window w = {0};

		msd_op_padding_at(p, i, n, &w);
		if (w.before < min || w.before > INT32_MAX || w.after < min ||
		    w.after > INT32_MAX)
			return msd_infer_fail(node, "its padding cannot be");
	}
	return 0;
}
