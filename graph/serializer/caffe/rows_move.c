/* Layers that move, join or select elements, and reductions. */
#include "graph/serializer/caffe/layer.h"

static modser_sg_tensor *load_concat(const struct caffe_layer *x)
{
	const Caffe__ConcatParameter *p = x->p->concat_param;
	const int64_t said = p == NULL           ? 1
			     : p->has_concat_dim ? (int64_t)p->concat_dim
						 : p->axis;
	size_t axis;

	if (!caffe_axis(x, said, false, &axis))
		return NULL;
	modser_sg_tensor *t = msd_build_node(&x->b, "Concat", x->in, x->p->n_bottom);
	return msd_build_done(msd_build_int(t, "axis", (int64_t)axis));
}

/* Pieces that end at the points, or equal ones. */
static int load_slice(const struct caffe_layer *x)
{
	const Caffe__SliceParameter none = CAFFE__SLICE_PARAMETER__INIT;
	const Caffe__SliceParameter *p =
		x->p->slice_param != NULL ? x->p->slice_param : &none;
	const int64_t said = p->has_slice_dim ? (int64_t)p->slice_dim : p->axis;
	const size_t n = x->p->n_top;
	int64_t sizes[64];
	int64_t begin = 0;
	size_t axis;

	if (!caffe_axis(x, said, false, &axis))
		return -1;
	const int64_t all = caffe_dims(x, 0)[axis];
	if (n > sizeof(sizes) / sizeof(sizes[0]) ||
	    (p->n_slice_point != 0 && p->n_slice_point != n - 1) ||
	    (p->n_slice_point == 0 && all % (int64_t)n != 0)) {
		(void)caffe_fail(x, "%zu points for %zu pieces of %d (64 at most)",
				 p->n_slice_point, n, (int)all);
		return -1;
	}
	for (size_t i = 0; i < n; i++) {
		const int64_t end = i + 1 == n             ? all
				    : p->n_slice_point > 0 ? (int64_t)p->slice_point[i]
							   : begin + all / (int64_t)n;

		if (end <= begin || end > all) {
			(void)caffe_fail(x, "its points are not in order");
			return -1;
		}
		sizes[i] = end - begin;
		begin = end;
	}
	modser_sg_tensor *t = msd_build_node(&x->b, "Split", x->in, 1);
	t = msd_build_list(msd_build_int(t, "axis", (int64_t)axis), "sizes", sizes, n);
	x->out[0] = msd_build_int(t, "is_onnx", 1);
	for (size_t i = 1; i < n; i++)
		x->out[i] = msd_build_output(&x->b, x->out[0]);
	return msd_build_done(x->out[n - 1]) != NULL ? 0 : -1;
}

static int load_split(const struct caffe_layer *x)
{
	for (size_t i = 0; i < x->p->n_top; i++) {
		x->out[i] = msd_build_one(&x->b, "Noop", x->in[0]);
		if (x->out[i] == NULL)
			return -1;
	}
	return 0;
}

static int64_t product(const int64_t *dims, size_t from, size_t to)
{
	int64_t all = 1;

	for (size_t i = from; i < to; i++)
		all *= dims[i];
	return all;
}

static modser_sg_tensor *load_flatten(const struct caffe_layer *x)
{
	const Caffe__FlattenParameter none = CAFFE__FLATTEN_PARAMETER__INIT;
	const Caffe__FlattenParameter *p =
		x->p->flatten_param != NULL ? x->p->flatten_param : &none;
	const size_t ndim = caffe_ndim(x, 0);
	int64_t dims[MODSER_GRAPH_MAX_NDIM];
	size_t n = 0;
	size_t from;
	size_t to;

	if (!caffe_axis(x, p->axis, false, &from) ||
	    !caffe_axis(x, p->end_axis, false, &to))
		return NULL;
	if (to < from)
		return caffe_fail(x, "end_axis is before axis");
	if (from == 1 && to == ndim - 1) {
		modser_sg_tensor *t = msd_build_node(&x->b, "Flatten", x->in, 1);

		return msd_build_done(msd_build_int(t, "end_axis", -1));
	}
	for (size_t i = 0; i < from; i++)
		dims[n++] = caffe_dims(x, 0)[i];
	dims[n++] = product(caffe_dims(x, 0), from, to + 1);
	for (size_t i = to + 1; i < ndim; i++)
		dims[n++] = caffe_dims(x, 0)[i];
	return msd_build_reshape(&x->b, x->in[0], dims, n);
}

/* The axes from @axis on, num_axes of them (-1: all), become the shape. */
static modser_sg_tensor *load_reshape(const struct caffe_layer *x)
{
	const Caffe__ReshapeParameter *p = x->p->reshape_param;
	const size_t ndim = caffe_ndim(x, 0);
	const int64_t *in = caffe_dims(x, 0);
	int64_t dims[MODSER_GRAPH_MAX_NDIM];
	size_t n = 0;
	size_t first;

	if (p == NULL || p->shape == NULL)
		return caffe_fail(x, "reshape_param has no shape");
	/* A negative axis counts from behind the last one. */
	if (!caffe_axis(x, p->axis < 0 ? p->axis + 1 + (int64_t)ndim : p->axis, true,
			&first))
		return NULL;
	const size_t after =
		p->num_axes == -1 ? ndim : first + (size_t)(uint32_t)p->num_axes;
	if (p->num_axes < -1 || after > ndim ||
	    first + p->shape->n_dim + (ndim - after) > MODSER_GRAPH_MAX_NDIM)
		return caffe_fail(x, "it has not so many axes");
	for (size_t i = 0; i < first; i++)
		dims[n++] = in[i];
	for (size_t i = 0; i < p->shape->n_dim; i++) {
		const int64_t d = p->shape->dim[i];

		if (d < -1 || (d == 0 && first + i >= ndim))
			return caffe_fail(x, "extent %zu cannot be", i);
		dims[n++] = d == 0 ? in[first + i] : d;
	}
	for (size_t i = after; i < ndim; i++)
		dims[n++] = in[i];
	return msd_build_reshape(&x->b, x->in[0], dims, n);
}

/* Axes that are not listed follow in their order. */
static modser_sg_tensor *load_permute(const struct caffe_layer *x)
{
	const Caffe__PermuteParameter *p = x->p->permute_param;
	const size_t ndim = caffe_ndim(x, 0);
	int64_t perm[MODSER_GRAPH_MAX_NDIM];
	uint32_t seen = 0;
	size_t n = 0;

	for (size_t i = 0; p != NULL && i < p->n_order; i++) {
		if (p->order[i] >= ndim || (seen >> p->order[i] & 1) != 0) {
			return caffe_fail(x, "axis %u is not there, or comes twice",
					  p->order[i]);
		}
		seen |= UINT32_C(1) << p->order[i];
		perm[n++] = p->order[i];
	}
	for (size_t i = 0; i < ndim; i++) {
		if ((seen >> i & 1) == 0)
			perm[n++] = (int64_t)i;
	}
	return msd_build_transpose(&x->b, x->in[0], perm, ndim);
}

/* The part of input 0 that begins at the offsets and has the extents of input 1. */
static modser_sg_tensor *load_crop(const struct caffe_layer *x)
{
	const Caffe__CropParameter none = CAFFE__CROP_PARAMETER__INIT;
	const Caffe__CropParameter *p =
		x->p->crop_param != NULL ? x->p->crop_param : &none;
	const size_t ndim = caffe_ndim(x, 0);
	int64_t begins[MODSER_GRAPH_MAX_NDIM];
	int64_t ends[MODSER_GRAPH_MAX_NDIM];
	int64_t axes[MODSER_GRAPH_MAX_NDIM];
	size_t first;
	size_t n = 0;

	if (!caffe_axis(x, p->axis, false, &first))
		return NULL;
	if (caffe_ndim(x, 1) != ndim ||
	    (p->n_offset > 1 && p->n_offset != ndim - first))
		return caffe_fail(x, "its inputs or offsets are not of one length");
	for (size_t i = first; i < ndim; i++, n++) {
		axes[n] = (int64_t)i;
		begins[n] = p->n_offset > 0 ? p->offset[p->n_offset > 1 ? n : 0] : 0;
		ends[n] = begins[n] + caffe_dims(x, 1)[i];
		if (ends[n] > caffe_dims(x, 0)[i])
			return caffe_fail(x, "it crops what axis %zu does not have", i);
	}
	modser_sg_tensor *const in[] = {x->in[0], msd_build_ints(&x->b, begins, n),
					msd_build_ints(&x->b, ends, n),
					msd_build_ints(&x->b, axes, n)};
	return msd_build_done(
		msd_build_int(msd_build_node(&x->b, "Slice", in, 4), "isonnx", 1));
}

static modser_sg_tensor *to_float(const struct caffe_layer *x, modser_sg_tensor *t)
{
	t = msd_build_node(&x->b, "Cast", &t, 1);
	return msd_build_done(msd_build_text(t, "to", "float32"));
}

/* Indices are floats in Caffe; without an axis all but axis 0 are one. */
static modser_sg_tensor *load_argmax(const struct caffe_layer *x)
{
	const Caffe__ArgMaxParameter none = CAFFE__ARG_MAX_PARAMETER__INIT;
	const Caffe__ArgMaxParameter *p =
		x->p->argmax_param != NULL ? x->p->argmax_param : &none;
	const size_t ndim = caffe_ndim(x, 0);
	modser_sg_tensor *in = x->in[0];
	size_t axis = 2;

	if (p->has_axis && !caffe_axis(x, p->axis, false, &axis))
		return NULL;
	if (ndim < 2)
		return caffe_fail(x, "its input has one dimension");
	if (!p->has_axis) {
		const int64_t dims[] = {caffe_dims(x, 0)[0], 1,
					product(caffe_dims(x, 0), 1, ndim)};

		in = msd_build_reshape(&x->b, in, dims, 3);
	}
	modser_sg_tensor *const ins[] = {
		in, msd_build_ints(&x->b, (int64_t[]){p->top_k}, 1)};
	modser_sg_tensor *values = msd_build_node(&x->b, "TopKV2", ins, 2);
	values = msd_build_int(msd_build_int(values, "axis", (int64_t)axis), "sorted",
			       1);
	modser_sg_tensor *places = msd_build_done(msd_build_output(&x->b, values));
	if (places == NULL)
		return NULL;
	if (p->out_max_val && p->has_axis)
		return values;
	places = to_float(x, places);
	if (!p->out_max_val)
		return places;
	modser_sg_tensor *const both[] = {places, values};
	return msd_build_done(
		msd_build_int(msd_build_node(&x->b, "Concat", both, 2), "axis", 1));
}

/* All axes from one on, times a number. */
static modser_sg_tensor *load_reduction(const struct caffe_layer *x)
{
	const Caffe__ReductionParameter none = CAFFE__REDUCTION_PARAMETER__INIT;
	const Caffe__ReductionParameter *p =
		x->p->reduction_param != NULL ? x->p->reduction_param : &none;
	/* The types of our operator for SUM, ASUM, SUMSQ and MEAN. */
	static const int64_t types[] = {0, 0, 2, 3, 1};
	int64_t axes[MODSER_GRAPH_MAX_NDIM];
	size_t first;
	size_t n = 0;

	if (!caffe_axis(x, p->axis, false, &first))
		return NULL;
	for (size_t i = first; i < caffe_ndim(x, 0); i++)
		axes[n++] = (int64_t)i;
	modser_sg_tensor *t =
		msd_build_reduce(&x->b, x->in[0], types[p->operation], axes, n);
	t = msd_build_reshape(&x->b, t, caffe_dims(x, 0), first);
	return p->coeff == 1 ? t
			     : msd_build_two(&x->b, "Mul", t,
					     msd_build_number(&x->b, p->coeff));
}

static modser_sg_tensor *load_tile(const struct caffe_layer *x)
{
	const Caffe__TileParameter *p = x->p->tile_param;
	int64_t reps[MODSER_GRAPH_MAX_NDIM];
	size_t axis;

	if (p == NULL || p->tiles < 1)
		return caffe_fail(x, "tile_param has no tiles");
	if (!caffe_axis(x, p->axis, false, &axis))
		return NULL;
	for (size_t i = 0; i < caffe_ndim(x, 0); i++)
		reps[i] = i == axis ? p->tiles : 1;
	return msd_build_two(&x->b, "Tile", x->in[0],
			     msd_build_ints(&x->b, reps, caffe_ndim(x, 0)));
}

static modser_sg_tensor *load_shuffle(const struct caffe_layer *x)
{
	const int64_t group = x->p->shuffle_channel_param != NULL
				      ? (int64_t)x->p->shuffle_channel_param->group
				      : 1;
	const size_t ndim = caffe_ndim(x, 0);
	static const int64_t perm[] = {0, 2, 1, 3};

	if (ndim < 2 || group < 1 || caffe_dims(x, 0)[1] % group != 0)
		return caffe_fail(x, "its channels are no whole %d groups", (int)group);
	const int64_t *in = caffe_dims(x, 0);
	const int64_t dims[] = {in[0], group, in[1] / group, product(in, 2, ndim)};
	modser_sg_tensor *t = msd_build_reshape(&x->b, x->in[0], dims, 4);
	return msd_build_reshape(&x->b, msd_build_transpose(&x->b, t, perm, 4), in,
				 ndim);
}

static modser_sg_tensor *resize(const struct caffe_layer *x, modser_sg_tensor *t,
				int64_t h, int64_t w, bool is_linear)
{
	const int64_t sizes[] = {caffe_dims(x, 0)[0], caffe_dims(x, 0)[1], h, w};
	modser_sg_tensor *const in[] = {
		t, msd_build_floats(&x->b, NULL, (int64_t[]){0}, 1),
		msd_build_floats(&x->b, NULL, (int64_t[]){0}, 1),
		msd_build_ints(&x->b, sizes, 4)};

	if (h < 1 || w < 1)
		return caffe_fail(x, "the result has no extent");
	t = msd_build_node(&x->b, "Resize", in, 4);
	t = msd_build_text(t, "mode", is_linear ? "linear" : "nearest");
	t = msd_build_text(t, "coordinate_transformation_mode",
			   is_linear ? "align_corners" : "asymmetric");
	return msd_build_done(msd_build_text(t, "nearest_mode", "floor"));
}

/* Corners stay corners. The extents are given, or follow from factors. */
static modser_sg_tensor *load_interp(const struct caffe_layer *x)
{
	const Caffe__InterpParameter none = CAFFE__INTERP_PARAMETER__INIT;
	const Caffe__InterpParameter *p =
		x->p->interp_param != NULL ? x->p->interp_param : &none;
	int64_t out[2] = {p->height, p->width};

	if (caffe_ndim(x, 0) != 4)
		return caffe_fail(x, "its input has not four dimensions");
	if (p->pad_beg != 0 || p->pad_end != 0)
		return caffe_fail(x, "pad_beg and pad_end cannot be read");
	if (p->zoom_factor < 1 || p->shrink_factor < 1)
		return caffe_fail(x, "a factor is less than 1");
	for (size_t i = 0; i < 2 && !(p->height > 0 && p->width > 0); i++) {
		out[i] = (caffe_dims(x, 0)[2 + i] - 1) / p->shrink_factor + 1;
		out[i] += (out[i] - 1) * (p->zoom_factor - 1);
	}
	return resize(x, x->in[0], out[0], out[1], true);
}

/* Each element becomes a square. */
static modser_sg_tensor *load_upsample(const struct caffe_layer *x)
{
	const Caffe__UpsampleParameter *p = x->p->upsample_param;
	int64_t scale[2] = {0, 0};

	if (caffe_ndim(x, 0) != 4)
		return caffe_fail(x, "its input has not four dimensions");
	for (size_t i = 0; i < 2 && p != NULL; i++) {
		const bool has = i == 0 ? p->has_scale_h : p->has_scale_w;

		scale[i] = has                    ? (i == 0 ? p->scale_h : p->scale_w)
			   : p->scale < INT16_MAX ? (int64_t)p->scale
						  : 0;
	}
	if (scale[0] < 1 || scale[1] < 1 ||
	    (p->scale != 0 && (float)(int64_t)p->scale != p->scale))
		return caffe_fail(x, "its scale is no whole number from 1 on");
	return resize(x, x->in[0], scale[0] * caffe_dims(x, 0)[2],
		      scale[1] * caffe_dims(x, 0)[3], false);
}

const struct caffe_row caffe_rows_move[] = {
	{"ArgMax", 1, 1, 1, load_argmax, NULL},
	{"Concat", 1, CAFFE_MANY, 1, load_concat, NULL},
	{"Crop", 2, 2, 1, load_crop, NULL},
	{"Flatten", 1, 1, 1, load_flatten, NULL},
	{"Interp", 1, 1, 1, load_interp, NULL},
	{"Permute", 1, 1, 1, load_permute, NULL},
	{"Reduction", 1, 1, 1, load_reduction, NULL},
	{"Reshape", 1, 1, 1, load_reshape, NULL},
	{"ShuffleChannel", 1, 1, 1, load_shuffle, NULL},
	{"Slice", 1, 1, CAFFE_MANY, NULL, load_slice},
	{"Split", 1, 1, CAFFE_MANY, NULL, load_split},
	{"Tile", 1, 1, 1, load_tile, NULL},
	{"Upsample", 1, 1, 1, load_upsample, NULL},
	{0},
};
