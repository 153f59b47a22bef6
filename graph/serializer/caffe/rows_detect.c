/* Layers of SSD, and normalizations by means. */
#include <stdlib.h>

#include "graph/ir/graph.h"
#include "graph/serializer/caffe/layer.h"

enum { SUM, MEAN }; /* types of a reduction */

static modser_sg_tensor *plus(const struct caffe_layer *x, modser_sg_tensor *t, float v)
{
	return msd_build_two(&x->b, "Add", t, msd_build_number(&x->b, v));
}

/* x / sqrt(sum(x x) + eps), times a factor for each channel. */
static modser_sg_tensor *load_normalize(const struct caffe_layer *x)
{
	Caffe__NormalizeParameter none;
	const Caffe__NormalizeParameter *p =
		x->p->norm_param != NULL ? x->p->norm_param : &none;
	static const int64_t axes[] = {1, 2, 3};
	int64_t dims[] = {1, 1, 1, 1};

	caffe__normalize_parameter__init(&none);
	if (caffe_ndim(x, 0) != 4)
		return caffe_fail(x, "its input has not four dimensions");
	dims[1] = p->channel_shared ? 1 : caffe_dims(x, 0)[1];
	modser_sg_tensor *t = msd_build_two(&x->b, "Mul", x->in[0], x->in[0]);
	t = msd_build_reduce(&x->b, t, SUM, axes, p->across_spatial ? 3 : 1);
	t = msd_build_one(&x->b, "Sqrt", plus(x, t, p->eps));
	t = msd_build_two(&x->b, "Div", x->in[0], t);
	modser_sg_tensor *scale = caffe_weights(x, 0, &dims[1], 1);
	if (scale == NULL || modser_sg_tensor_set_dims(scale, dims, 4) != 0)
		return NULL;
	return msd_build_two(&x->b, "Mul", t, scale);
}

/* Less the mean of each plane or image, by its deviation. */
static modser_sg_tensor *load_mvn(const struct caffe_layer *x)
{
	static const int64_t axes[] = {1, 2, 3};
	Caffe__MVNParameter none;

	caffe__mvnparameter__init(&none);
	const Caffe__MVNParameter *p =
		x->p->mvn_param != NULL ? x->p->mvn_param : &none;
	const int64_t *from = p->across_channels ? axes : axes + 1;
	const size_t n = p->across_channels ? 3 : 2;

	if (caffe_ndim(x, 0) != 4)
		return caffe_fail(x, "its input has not four dimensions");
	modser_sg_tensor *t =
		msd_build_two(&x->b, "Sub", x->in[0],
			      msd_build_reduce(&x->b, x->in[0], MEAN, from, n));
	if (!p->normalize_variance)
		return t;
	modser_sg_tensor *by = msd_build_two(&x->b, "Mul", t, t);
	by = msd_build_one(&x->b, "Sqrt", msd_build_reduce(&x->b, by, MEAN, from, n));
	return msd_build_two(&x->b, "Div", t, plus(x, by, p->eps));
}

/* Each ratio once, and not 1: the boxes of the sizes are squares already. */
static size_t read_ratios(const Caffe__PriorBoxParameter *p, float *ret)
{
	size_t n = 0;

	for (size_t i = 0; i < p->n_aspect_ratio; i++) {
		const float ratio = p->aspect_ratio[i];
		bool is_new = ratio - 1 > 1e-6f || 1 - ratio > 1e-6f;

		for (size_t k = 0; is_new && k < n; k++) {
			const float by = p->flip ? ret[k] * ratio - 1 : 1;
			const float away = ret[k] - ratio;

			is_new = (away > 1e-6f || away < -1e-6f) &&
				 (by > 1e-6f || by < -1e-6f);
		}
		if (is_new)
			ret[n++] = ratio;
	}
	return n;
}

static bool check_sizes(const struct caffe_layer *x, const Caffe__PriorBoxParameter *p)
{
	if (p->n_min_size < 1 ||
	    (p->n_max_size != 0 && p->n_max_size != p->n_min_size)) {
		(void)caffe_fail(x, "it has %zu min_size and %zu max_size",
				 p->n_min_size, p->n_max_size);
		return false;
	}
	for (size_t i = 0; i < p->n_aspect_ratio; i++) {
		if (!(p->aspect_ratio[i] > 0)) {
			(void)caffe_fail(x, "aspect_ratio %zu is not above 0", i);
			return false;
		}
	}
	if (caffe_ndim(x, 0) != 4 || caffe_ndim(x, 1) != 4) {
		(void)caffe_fail(x, "its inputs have not four dimensions");
		return false;
	}
	return true;
}

/* The boxes depend on shapes alone, so that they are a constant. */
static modser_sg_tensor *load_prior_box(const struct caffe_layer *x)
{
	static const float tenth = 0.1f;
	const Caffe__PriorBoxParameter *p = x->p->prior_box_param;

	if (p == NULL)
		return caffe_fail(x, "prior_box_param is missing");
	if (!check_sizes(x, p))
		return NULL;
	float *ratios = calloc(p->n_aspect_ratio + 1, sizeof(*ratios));
	if (ratios == NULL) {
		(void)msd_sg_no_memory(x->b.g);
		return NULL;
	}
	const size_t n_ratios = read_ratios(p, ratios);
	const bool is_square = p->img_size > 0;
	modser_sg_tensor *t = msd_build_node(&x->b, "PriorBox", x->in, 2);
	t = msd_build_numbers(t, "min_size", p->min_size, p->n_min_size);
	t = msd_build_numbers(t, "max_size", p->max_size, p->n_max_size);
	t = msd_build_numbers(t, "aspect_ratio", ratios, n_ratios);
	t = p->n_variance > 0
		    ? msd_build_numbers(t, "variance", p->variance, p->n_variance)
		    : msd_build_numbers(t, "variance", &tenth, 1);
	t = msd_build_int(msd_build_int(t, "flip", p->flip), "clip", p->clip);
	t = msd_build_int(t, "img_h", is_square ? p->img_size : p->img_h);
	t = msd_build_int(t, "img_w", is_square ? p->img_size : p->img_w);
	t = msd_build_float(t, "step_h", p->has_step ? p->step : p->step_h);
	t = msd_build_float(t, "step_w", p->has_step ? p->step : p->step_w);
	t = msd_build_done(msd_build_float(t, "offset", p->offset));
	free(ratios);
	if (t == NULL)
		return NULL;
	const int64_t dims[] = {1, 2, t->dims[2]};
	return msd_build_reshape(&x->b, t, dims, 3);
}

static modser_sg_tensor *load_detection_output(const struct caffe_layer *x)
{
	const Caffe__DetectionOutputParameter *p = x->p->detection_output_param;
	Caffe__NonMaximumSuppressionParameter none;

	caffe__non_maximum_suppression_parameter__init(&none);
	if (p == NULL || p->num_classes < 1)
		return caffe_fail(x, "detection_output_param has no num_classes");
	const Caffe__NonMaximumSuppressionParameter *nms =
		p->nms_param != NULL ? p->nms_param : &none;
	modser_sg_tensor *t = msd_build_node(&x->b, "DetectionOutput", x->in, 3);
	t = msd_build_int(t, "num_classes", p->num_classes);
	t = msd_build_int(t, "keep_top_k", p->keep_top_k);
	t = msd_build_int(t, "nms_top_k", nms->has_top_k ? nms->top_k : -1);
	t = msd_build_float(t, "confidence_threshold",
			    p->has_confidence_threshold ? p->confidence_threshold
							: -3.40282347e+38f);
	t = msd_build_float(t, "nms_threshold", nms->nms_threshold);
	t = msd_build_float(t, "eta", nms->eta);
	t = msd_build_int(t, "background_label_id", p->background_label_id);
	t = msd_build_int(t, "share_location", p->share_location);
	t = msd_build_int(t, "code_type", (int64_t)p->code_type);
	t = msd_build_int(t, "variance_encoded_in_target",
			  p->variance_encoded_in_target);
	return msd_build_done(t);
}

const struct caffe_row caffe_rows_detect[] = {
	{"DetectionOutput", 3, 3, 1, load_detection_output, NULL},
	{"MVN", 1, 1, 1, load_mvn, NULL},
	{"Normalize", 1, 1, 1, load_normalize, NULL},
	{"PriorBox", 2, 2, 1, load_prior_box, NULL},
	{0},
};
