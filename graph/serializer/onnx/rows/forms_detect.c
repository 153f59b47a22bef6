/*
 * Operators of detectors that ONNX lacks, written as several nodes. A PriorBox depends
 * on shapes alone and becomes a constant. DetectionOutput sorts the scores of each
 * class (TopK), drops overlapping boxes (NonMaxSuppression, with a class as an image),
 * and keeps the best in the order of the classes.
 */
#include <stdlib.h>

#include "graph/ir/graph.h"
#include "graph/op/window/detect.h"
#include "graph/op/window/prior_box.h"
#include "graph/serializer/onnx/emit.h"
#include "graph/serializer/onnx/out.h"

static int store_prior_box(const struct onnx_out *o)
{
	const modser_sg_tensor *t = o->node->outputs[0];
	struct msd_op_priors p;

	if (t->ndim != 4 || t->dims[2] < 0 || t->dims[2] > INT32_MAX) {
		return onnx_out_fail(o,
				     "its boxes depend on shapes that are not known");
	}
	msd_op_priors_of(o->node, &p);
	const size_t n = (size_t)t->dims[2];
	float *values = calloc(2 * n + 1, sizeof(*values));
	if (values == NULL)
		return msd_sg_no_memory(o->e->g);
	msd_op_priors_fill(&p, n, values);
	Onnx__NodeProto *node = onnx_emit_node(o->e, "Identity", o->node->name);
	onnx_emit_in(o->e, node, onnx_emit_singles(o->e, values, t->dims, 4));
	onnx_emit_out(o->e, node, onnx_out_output(o, 0));
	free(values);
	return 0;
}

/* A node with up to three inputs, NULL if it has fewer. */
static Onnx__NodeProto *node_of(const struct onnx_out *o, const char *op, char *a,
				char *b, char *c)
{
	Onnx__NodeProto *node = onnx_emit_node(o->e, op, o->node->name);
	char *const in[] = {a, b, c};

	for (size_t i = 0; i < 3 && in[i] != NULL; i++)
		onnx_emit_in(o->e, node, in[i]);
	return node;
}

/* Its next output. */
static char *out_of(const struct onnx_out *o, Onnx__NodeProto *node)
{
	char *name = onnx_emit_name(o->e, o->node->name);

	onnx_emit_out(o->e, node, name);
	return name;
}

static char *put(const struct onnx_out *o, const char *op, char *a, char *b)
{
	return out_of(o, node_of(o, op, a, b, NULL));
}

static char *put_axis(const struct onnx_out *o, const char *op, char *a, char *b,
		      int64_t axis)
{
	Onnx__NodeProto *node = node_of(o, op, a, b, NULL);

	onnx_emit_int(o->e, node, "axis", axis);
	return out_of(o, node);
}

static char *list(const struct onnx_out *o, int64_t a, int64_t b, int64_t c, size_t n)
{
	return onnx_emit_list(o->e, (int64_t[]){a, b, c}, n);
}

/* Columns 0 and 1 of @boxes, and columns 2 and 3. */
static void split(const struct onnx_out *o, char *boxes, char *ret[2])
{
	Onnx__NodeProto *node = node_of(o, "Split", boxes, list(o, 2, 2, 0, 2), NULL);

	onnx_emit_int(o->e, node, "axis", 1);
	ret[0] = out_of(o, node);
	ret[1] = out_of(o, node);
}

/* The boxes of all priors: [priors, 4]. */
static char *put_boxes(const struct onnx_out *o, const struct msd_op_detect *d)
{
	char *priors = put(o, "Reshape", onnx_out_input(o, 2), list(o, 2, -1, 4, 3));
	char *offsets = put(o, "Reshape", onnx_out_input(o, 0), list(o, -1, 4, 0, 2));
	char *zero = onnx_emit_scalar_int(o->e, 0);
	char *half = onnx_emit_scalar(o->e, 0.5f);
	char *at[2];
	char *by[2];
	char *corners[2];

	if (!d->has_variance) {
		char *one = onnx_emit_scalar_int(o->e, 1);

		offsets = put(o, "Mul", offsets, put_axis(o, "Gather", priors, one, 0));
	}
	split(o, put_axis(o, "Gather", priors, zero, 0), at);
	split(o, offsets, by);
	char *size = put(o, "Sub", at[1], at[0]);
	if (d->code == MSD_BOX_CENTER) {
		char *center = put(o, "Mul", put(o, "Add", at[0], at[1]), half);
		char *extent = put(o, "Mul", put(o, "Exp", by[1], NULL), size);

		center = put(o, "Add", center, put(o, "Mul", by[0], size));
		extent = put(o, "Mul", extent, half);
		corners[0] = put(o, "Sub", center, extent);
		corners[1] = put(o, "Add", center, extent);
	} else {
		for (size_t i = 0; i < 2; i++) {
			char *way = d->code == MSD_BOX_CORNER
					    ? by[i]
					    : put(o, "Mul", by[i], size);

			corners[i] = put(o, "Add", at[i], way);
		}
	}
	return put_axis(o, "Concat", corners[0], corners[1], 1);
}

/* TopK along @axis: values and indices. */
static void put_top(const struct onnx_out *o, char *x, char *k, int64_t axis,
		    bool is_largest, char *ret[2])
{
	Onnx__NodeProto *node = node_of(o, "TopK", x, k, NULL);

	onnx_emit_int(o->e, node, "axis", axis);
	onnx_emit_int(o->e, node, "largest", is_largest);
	ret[0] = out_of(o, node);
	ret[1] = out_of(o, node);
}

/* The scores of all classes but the background, and the numbers of these classes. */
static char *put_scores(const struct onnx_out *o, const struct msd_op_detect *d,
			char **ret_classes)
{
	int64_t *ids = calloc(d->n_classes + 1, sizeof(*ids));
	float *numbers = calloc(d->n_classes + 1, sizeof(*numbers));
	int64_t n = 0;
	char *t = NULL;

	if (ids != NULL && numbers != NULL) {
		for (size_t i = 0; i < d->n_classes; i++) {
			if ((int64_t)i == d->background)
				continue;
			numbers[n] = (float)i;
			ids[n++] = (int64_t)i;
		}
		t = put(o, "Reshape", onnx_out_input(o, 1),
			list(o, (int64_t)d->n_priors, (int64_t)d->n_classes, 0, 2));
		t = put(o, "Transpose", t, NULL);
		t = put_axis(o, "Gather", t, onnx_emit_list(o->e, ids, (size_t)n), 0);
		*ret_classes = onnx_emit_singles(o->e, numbers, &n, 1);
	}
	free(ids);
	free(numbers);
	return t;
}

/* The @most best of @rows by @scores, in their order. */
static char *put_best(const struct onnx_out *o, char *rows, char *scores, int64_t most)
{
	char *n = put(o, "Min", put(o, "Shape", scores, NULL), list(o, most, 0, 0, 1));
	char *best[2];
	char *order[2];

	put_top(o, scores, n, 0, true, best);
	put_top(o, best[1], n, 0, false, order);
	return put_axis(o, "Gather", rows, order[0], 0);
}

static char *put_rows(const struct onnx_out *o, const struct msd_op_detect *d)
{
	const bool is_cut =
		d->most_of_class >= 0 && (uint64_t)d->most_of_class < d->n_priors;
	const int64_t most = is_cut ? d->most_of_class : (int64_t)d->n_priors;
	char *axis = list(o, 1, 0, 0, 1);
	char *classes = NULL;
	char *top[2];

	char *scores = put_scores(o, d, &classes);
	if (scores == NULL || classes == NULL)
		return NULL;
	put_top(o, scores, list(o, most, 0, 0, 1), 1, true, top);
	char *boxes = put_axis(o, "Gather", put_boxes(o, d), top[1], 0);
	Onnx__NodeProto *node =
		node_of(o, "NonMaxSuppression", boxes,
			put(o, "Unsqueeze", top[0], axis), list(o, most, 0, 0, 1));
	onnx_emit_in(o->e, node, onnx_emit_scalar(o->e, d->overlap));
	onnx_emit_in(o->e, node, onnx_emit_scalar(o->e, d->least));
	char *found = out_of(o, node);
	char *places = put_axis(o, "Gather", found, list(o, 0, 2, 0, 2), 1);
	char *class = put_axis(o, "Gather", found, onnx_emit_scalar_int(o->e, 0), 1);
	scores = put(o, "GatherND", top[0], places);
	char *corners = put(o, "GatherND", boxes, places);
	char *column = put(o, "Unsqueeze", scores, axis);
	node = node_of(
		o, "Concat", put(o, "Mul", column, onnx_emit_scalar(o->e, 0)),
		put(o, "Unsqueeze", put_axis(o, "Gather", classes, class, 0), axis),
		column);
	onnx_emit_in(o->e, node, corners);
	onnx_emit_int(o->e, node, "axis", 1);
	char *rows = out_of(o, node);
	return d->most_of_image >= 0 ? put_best(o, rows, scores, d->most_of_image)
				     : rows;
}

static int store_detection_output(const struct onnx_out *o)
{
	struct msd_op_detect d;

	for (size_t i = 0; i < 3; i++) {
		if (o->node->inputs[i]->ndim < 0) {
			return onnx_out_fail(o, "the shape of input %zu is not known",
					     i);
		}
	}
	if (msd_op_detect_of(o->node, &d) == -1)
		return -1;
	if (d.n_images != 1 || !d.shares_boxes || d.eta != 1 || d.n_priors < 1) {
		return onnx_out_fail(o,
				     "ONNX has it for one image, with boxes that the "
				     "classes share and without eta");
	}
	char *rows = put_rows(o, &d);
	Onnx__NodeProto *node =
		node_of(o, "Unsqueeze", rows, list(o, 0, 1, 0, 2), NULL);
	onnx_emit_out(o->e, node, onnx_out_output(o, 0));
	return rows != NULL ? 0 : msd_sg_no_memory(o->e->g);
}

const struct onnx_form onnx_forms_detect[] = {
	{"DetectionOutput", store_detection_output},
	{"PriorBox", store_prior_box},
	{NULL, NULL},
};
