/*
 * Einsum. The equation is read twice: once for the axes of the output, explicit or
 * implicit, once for the inputs. An ellipsis stands for the axes without a letter,
 * aligned at their ends.
 */
#include "graph/op/layer/einsum.h"

#include <string.h>

#include "graph/ir/infer.h"
#include "graph/op/layer/params.h"
#include "graph/op/op.h"

#define ELLIPSIS "..."
#define LETTERS 52u /* the numbers after these are axes of an ellipsis */
enum { NO_AXIS = -1 };

/* One equation during parsing. */
struct reader {
	const modser_sg_node *node;
	struct msd_op_einsum *e;
	int axis_of[MSD_EINSUM_AXES]; /* axis of each letter or ellipsis axis */
	unsigned seen[MSD_EINSUM_AXES];
	size_t wide; /* axes of the ellipsis, in the widest input */
};

static int letter(char c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	return c >= 'a' && c <= 'z' ? c - 'a' + 26 : NO_AXIS;
}

/* Read the labels of one term, up to ',' or '-' or the end. Returns their number, or
 * -1. The ellipsis has @wide axes. */
static int read_term(struct reader *r, const char **at, size_t wide,
		     int ret[static MSD_EINSUM_AXES])
{
	bool has_dots = false;
	size_t n = 0;

	for (; **at != '\0' && **at != ',' && **at != '-'; (*at)++) {
		const bool is_dots = strncmp(*at, ELLIPSIS, strlen(ELLIPSIS)) == 0;

		if (**at == ' ')
			continue;
		if (n + (is_dots ? wide : 1) > MODSER_GRAPH_MAX_NDIM ||
		    (is_dots ? has_dots : letter(**at) == NO_AXIS))
			return msd_infer_fail(r->node, "its equation cannot be read");
		if (!is_dots) {
			ret[n++] = letter(**at);
			continue;
		}
		has_dots = true;
		*at += strlen(ELLIPSIS) - 1;
		for (size_t k = 0; k < wide; k++)
			ret[n++] = (int)(LETTERS + r->wide - wide + k);
	}
	return (int)n;
}

/* The number of ellipsis axes of the term at @at, which has @ndim axes. */
static int ellipsis_of(const struct reader *r, const char *at, size_t ndim)
{
	size_t letters = 0;
	bool has_dots = false;

	for (; *at != '\0' && *at != ',' && *at != '-'; at++) {
		letters += letter(*at) != NO_AXIS;
		has_dots = has_dots || *at == '.';
	}
	if (letters > ndim || (!has_dots && letters != ndim)) {
		return msd_infer_fail(r->node,
				      "a term has %zu letters for %zu dimensions",
				      letters, ndim);
	}
	return (int)(ndim - letters);
}

static const char *term(const char *equation, size_t i)
{
	for (; i > 0 && equation != NULL; i--) {
		equation = strchr(equation, ',');
		equation = equation != NULL ? equation + 1 : NULL;
	}
	return equation;
}

/* Count each label of the inputs, and find the width of the ellipsis. */
static int count_labels(struct reader *r, const char *equation, size_t n_inputs)
{
	int labels[MSD_EINSUM_AXES];

	for (size_t i = 0; i < n_inputs; i++) {
		const char *at = term(equation, i);
		const int wide =
			at == NULL ? msd_infer_fail(r->node, "it has too few terms")
				   : ellipsis_of(r, at, msd_infer_ndim(r->node, i));

		if (wide < 0)
			return -1;
		r->wide = (size_t)wide > r->wide ? (size_t)wide : r->wide;
	}
	for (size_t i = 0; i < n_inputs; i++) {
		const char *at = term(equation, i);
		const int wide = ellipsis_of(r, at, msd_infer_ndim(r->node, i));
		const int n = wide < 0 ? -1 : read_term(r, &at, (size_t)wide, labels);

		if (n < 0)
			return -1;
		for (int k = 0; k < n; k++)
			r->seen[labels[k]]++;
		if (i + 1 == n_inputs && *at == ',')
			return msd_infer_fail(r->node, "it has too many terms");
	}
	return 0;
}

static void add_axis(struct reader *r, size_t label)
{
	struct msd_op_einsum *e = r->e;

	r->axis_of[label] = (int)e->n_axes;
	e->extents[e->n_axes++] = 1;
}

/* The output's axes: those after the arrow, or the ellipsis axes and each letter that
 * occurs once, in order. */
static int read_output(struct reader *r, const char *equation)
{
	const char *arrow = strstr(equation, "->");
	int labels[MSD_EINSUM_AXES];

	if (arrow != NULL) {
		const char *at = arrow + strlen("->");
		const int n = read_term(r, &at, r->wide, labels);

		if (n < 0)
			return -1;
		for (int k = 0; k < n; k++) {
			if (r->seen[labels[k]] == 0 || r->axis_of[labels[k]] >= 0) {
				return msd_infer_fail(
					r->node,
					"its output has an axis that no input has, or "
					"one twice");
			}
			add_axis(r, (size_t)labels[k]);
		}
		return *at == '\0' ? 0 : msd_infer_fail(r->node, "it has two outputs");
	}
	for (size_t k = 0; k < r->wide; k++)
		add_axis(r, LETTERS + k);
	for (size_t k = 0; k < LETTERS; k++) {
		if (r->seen[k] == 1)
			add_axis(r, k);
	}
	return 0;
}

/* Add one axis of an input: its extent, if that is not 1, and its step. */
static int add_extent(struct reader *r, size_t i, int label, int64_t extent,
		      int64_t step)
{
	int64_t *all = &r->e->extents[r->axis_of[label]];

	if (extent == 1)
		return 0;
	if (*all != 1 && *all != extent) {
		return msd_infer_fail(r->node, "an axis has extents %lld and %lld",
				      (long long)*all, (long long)extent);
	}
	*all = extent;
	r->e->steps[i][r->axis_of[label]] += step; /* a diagonal has several */
	return 0;
}

static int read_input(struct reader *r, const char *equation, size_t i)
{
	const int64_t *dims = msd_infer_dims(r->node, i);
	const size_t ndim = msd_infer_ndim(r->node, i);
	const char *at = term(equation, i);
	const int wide = ellipsis_of(r, at, ndim);
	int labels[MSD_EINSUM_AXES];
	int64_t step = 1;

	if (wide < 0 || read_term(r, &at, (size_t)wide, labels) < 0)
		return -1;
	for (size_t k = ndim; k > 0; k--) {
		if (add_extent(r, i, labels[k - 1], dims[k - 1], step) != 0)
			return -1;
		step *= dims[k - 1];
	}
	return 0;
}

int msd_op_einsum_read(const modser_sg_node *node, struct msd_op_einsum *ret)
{
	const char *equation = msd_params_einsum(node).equation;
	const size_t n_inputs = modser_sg_node_input_count(node);
	struct reader r = {.node = node, .e = ret};

	memset(ret, 0, sizeof(*ret));
	for (size_t k = 0; k < MSD_EINSUM_AXES; k++)
		r.axis_of[k] = NO_AXIS;
	if (count_labels(&r, equation, n_inputs) != 0 || read_output(&r, equation) != 0)
		return -1;
	ret->n_out = ret->n_axes;
	for (size_t k = 0; k < MSD_EINSUM_AXES; k++) {
		if (r.seen[k] > 0 && r.axis_of[k] < 0)
			add_axis(&r, k);
	}
	for (size_t i = 0; i < n_inputs; i++) {
		if (read_input(&r, equation, i) != 0)
			return -1;
	}
	return 0;
}

static int infer(modser_sg_node *node)
{
	struct msd_op_einsum e;

	if (msd_infer_alike(node, 0, MSD_EINSUM_INPUTS) != 0 ||
	    msd_op_einsum_read(node, &e) != 0)
		return -1;
	if (e.n_out > MODSER_GRAPH_MAX_NDIM)
		return msd_infer_fail(node, "it has more than 32 dimensions");
	return msd_infer_set(node, e.extents, e.n_out);
}

const modser_sg_op_schema msd_op_einsum = {
	.name = "Einsum",
	OP_PARAMS(MSD_PARAMS_EINSUM),
	OP_IN(1, MSD_EINSUM_INPUTS),
	OP_OUT(1, 1),
	.infer = infer,
};
