/* What looks at regions and boxes: which are left, what is outside, what is refused.
 * The numbers of the rest are those of ONNX's own test models (onnx_suite.py). */
#include <criterion/criterion.h>
#include <math.h>

#include "graph/op/window/suppression.h"
#include "tests/graph/one.h"

/* The second covers most of the first, the third is elsewhere, the fourth is the first
 * with its corners swapped. */
static const float boxes[4][4] = {
	{0, 0, 2, 2}, {0, 0, 2, 1.5f}, {5, 5, 6, 6}, {2, 2, 0, 0}};
static const float scores[4] = {0.5f, 0.75f, 0.25f, 0.5f};

static struct msd_op_boxes one_class(void)
{
	return (struct msd_op_boxes){.boxes = boxes[0],
				     .scores = scores,
				     .n_images = 1,
				     .n_classes = 1,
				     .n_boxes = 4,
				     .most = 4,
				     .overlap = 0.5f};
}

Test(region, of_boxes_that_overlap_the_best_is_left)
{
	const struct msd_op_boxes b = one_class();
	uint64_t scratch[4];
	int64_t places[4][3];

	cr_assert_eq(msd_op_suppress(&b, scratch, places), 2);
	cr_expect_eq(places[0][2], 1);
	cr_expect_eq(places[1][2], 2);
}

Test(region, of_boxes_that_are_as_good_the_first_is_left)
{
	struct msd_op_boxes b = one_class();
	uint64_t scratch[4];
	int64_t places[4][3];

	b.overlap = 0.9f;
	cr_assert_eq(msd_op_suppress(&b, scratch, places), 3);
	cr_expect_eq(places[1][2], 0);
}

Test(region, scores_that_are_no_number_or_not_above_the_least_leave_no_box)
{
	const float bad[4] = {NAN, 0.25f, NAN, 0.5f};
	struct msd_op_boxes b = one_class();
	uint64_t scratch[4];
	int64_t places[4][3];

	b.scores = bad;
	b.has_least = true;
	b.least = 0.25f;
	cr_assert_eq(msd_op_suppress(&b, scratch, places), 1);
	cr_expect_eq(places[0][2], 3);
}

Test(region, no_more_boxes_are_left_than_are_asked_for)
{
	struct msd_op_boxes b = one_class();
	uint64_t scratch[4];

	b.most = 1;
	cr_expect_eq(msd_op_suppress(&b, scratch, NULL), 1);
	b.most = -1;
	cr_expect_eq(msd_op_suppress(&b, scratch, NULL), 0);
}

enum { MANY = 900 };

static float side(const float *box, size_t axis, bool is_high)
{
	const float a = box[axis];
	const float b = box[axis + 2];

	return is_high == (a < b) ? b : a;
}

/* By the definition, in double. */
static bool overlap_plainly(const float *x, const float *y, double most)
{
	double shared = 1;
	double areas[2] = {1, 1};

	for (size_t a = 0; a < 2; a++) {
		const double low =
			fmax((double)side(x, a, false), (double)side(y, a, false));
		const double high =
			fmin((double)side(x, a, true), (double)side(y, a, true));

		if (!(high > low))
			return false;
		shared *= high - low;
		areas[0] *= (double)side(x, a, true) - (double)side(x, a, false);
		areas[1] *= (double)side(y, a, true) - (double)side(y, a, false);
	}
	return shared / (areas[0] + areas[1] - shared) > most;
}

static float many[MANY][4], marks[MANY];

static void make_boxes(void)
{
	for (size_t i = 0; i < MANY; i++) {
		const float x = (float)(i * 7919 % 251);
		const float y = (float)(i * 104729 % 241);
		const float size = i % 2 == 0 ? 9 : -7;
		const float box[] = {x, y, x + size, y + 8};

		memcpy(many[i], box, sizeof(box));
		marks[i] = i % 50 == 49 ? NAN : (float)(int)(i * 37 % 91) / 9 - 5;
	}
}

static bool is_better(size_t a, size_t b)
{
	return marks[a] > marks[b] || (marks[a] >= marks[b] && a < b);
}

static bool is_among(size_t box, int64_t (*places)[3], size_t n)
{
	for (size_t k = 0; k < n; k++) {
		if (places[k][2] == (int64_t)box)
			return true;
	}
	return false;
}

/* A box is left if none that is better, and is left, overlaps it. */
static bool should_be_left(size_t box, int64_t (*places)[3], size_t n)
{
	for (size_t k = 0; k < n; k++) {
		const size_t at = (size_t)places[k][2];

		if (is_better(at, box) && overlap_plainly(many[box], many[at], 0.3))
			return false;
	}
	return !isnan(marks[box]);
}

/* More boxes than vectors compare; scores that are equal, of both signs. */
Test(region, of_many_boxes_the_same_are_left_as_by_the_definition)
{
	const struct msd_op_boxes b = {many[0], marks, 1,     1, MANY,
				       MANY,    0.3f,  false, 0, false};
	static uint64_t scratch[MANY];
	static int64_t places[MANY][3];

	make_boxes();
	const size_t n = msd_op_suppress(&b, scratch, places);
	cr_assert_gt(n, 300);
	for (size_t i = 1; i < n; i++) {
		cr_expect(is_better((size_t)places[i - 1][2], (size_t)places[i][2]));
	}
	for (size_t i = 0; i < MANY; i++) {
		cr_expect_eq(is_among(i, places, n), should_be_left(i, places, n),
			     "box %zu", i);
	}
}

static struct one grid_begin(const float *grid, const char *padding)
{
	static const float x[4] = {1, 2, 3, 4};
	const modser_sg_attr value = {.kind = MODSER_ATTR_STR, .as.s = padding};
	struct one o = one_begin("GridSample");

	one_add_shaped(&o, "float32", 4, (const int64_t[]){1, 1, 2, 2}, x);
	one_add_shaped(&o, "float32", 4, (const int64_t[]){1, 1, 2, 2}, grid);
	(void)modser_sg_op_set_param(modser_sg_node_op(o.node), "padding_mode", &value);
	return o;
}

static void expect_sampled(const float *grid, const char *padding, float first,
			   float second)
{
	struct one o = grid_begin(grid, padding);

	cr_assert_eq(msd_plan_create(o.g, &o.plan, &o.d), MSD_OK, "%s",
		     msd_diag_text(&o.d));
	cr_assert_eq(msd_plan_run(o.plan, NULL, &o.d), MSD_OK);
	const float *got = msd_plan_output(o.plan, 0);
	cr_expect_eq(got[0], first, "%s: %g", padding, (double)got[0]);
	cr_expect_eq(got[1], second, "%s: %g", padding, (double)got[1]);
	one_end(&o);
}

Test(region, a_grid_outside_of_the_image_is_padded)
{
	static const float grid[4] = {0, 0, 9, -9};

	expect_sampled(grid, "zeros", 2.5f, 0);
	expect_sampled(grid, "border", 2.5f, 2);
}

Test(region, a_grid_of_no_numbers_reads_nothing)
{
	const float grid[4] = {NAN, NAN, INFINITY, -INFINITY};

	expect_sampled(grid, "zeros", 0, 0);
	expect_sampled(grid, "reflection", 0, 1);
}

Test(region, a_padding_that_is_not_known_is_refused)
{
	static const float grid[4];
	struct one o = grid_begin(grid, "wrap");

	cr_assert_eq(msd_plan_create(o.g, &o.plan, &o.d), MSD_BAD_ARTIFACT);
	expect_said(&o, "padding_mode \"wrap\" is not known");
	one_end(&o);
}

static void expect_align_fails(const float *roi, int64_t image, const char *why)
{
	static const float x[4] = {1, 2, 3, 4};
	struct one o = one_begin("RoiAlign");

	one_add_shaped(&o, "float32", 4, (const int64_t[]){1, 1, 2, 2}, x);
	one_add_shaped(&o, "float32", 2, (const int64_t[]){1, 4}, roi);
	one_add_constant(&o, "int64", 1, &image);
	cr_assert_eq(msd_plan_create(o.g, &o.plan, &o.d), MSD_OK);
	cr_expect_neq(msd_plan_run(o.plan, NULL, &o.d), MSD_OK);
	expect_said(&o, why);
	one_end(&o);
}

Test(region, a_region_that_would_never_end_fails_its_run)
{
	expect_align_fails((const float[]){0, 0, 1e30f, 1}, 0, "region 0 is too large");
	expect_align_fails((const float[]){0, NAN, 1, 1}, 0, "region 0 is too large");
}

Test(region, a_region_of_an_image_that_is_not_there_fails_its_run)
{
	expect_align_fails((const float[]){0, 0, 1, 1}, 1, "1");
}

Test(region, channels_that_are_no_whole_groups_are_refused)
{
	static const float x[6];
	struct one o = one_begin("GroupNorm");

	one_add_shaped(&o, "float32", 3, (const int64_t[]){1, 3, 2}, x);
	one_add_constant(&o, "float32", 3, x);
	one_add_constant(&o, "float32", 3, x);
	(void)modser_sg_op_set_int(modser_sg_node_op(o.node), "num_groups", 2);
	cr_assert_eq(msd_plan_create(o.g, &o.plan, &o.d), MSD_BAD_ARTIFACT);
	expect_said(&o, "its channels are no whole groups");
	one_end(&o);
}

/* Each tap of a kernel of ones looks at a place of its own, moved by @offsets. */
static struct one deform(const float *offsets, const float *mask, int64_t n_mask)
{
	static const float x[9] = {0, 1, 2, 3, 4, 5, 6, 7, 8};
	static const float w[4] = {1, 1, 1, 1};
	struct one o = one_begin("DeformConv");
	modser_sg_op *op = modser_sg_node_op(o.node);

	cr_assert_eq(modser_sg_op_set_int(op, "kernel_h", 2), 0);
	cr_assert_eq(modser_sg_op_set_int(op, "kernel_w", 2), 0);
	one_add_shaped(&o, "float32", 4, (const int64_t[]){1, 1, 3, 3}, x);
	one_add_shaped(&o, "float32", 4, (const int64_t[]){1, 1, 2, 2}, w);
	one_add_shaped(&o, "float32", 4, (const int64_t[]){1, 8, 2, 2}, offsets);
	if (mask != NULL) {
		(void)modser_sg_node_add_input(o.node, NULL);
		one_add_shaped(&o, "float32", 4, (const int64_t[]){1, n_mask, 2, 2},
			       mask);
	}
	return o;
}

static void expect_deformed(struct one *o, const float want[4])
{
	cr_assert_eq(msd_plan_create(o->g, &o->plan, &o->d), MSD_OK, "%s",
		     msd_diag_text(&o->d));
	cr_assert_eq(msd_plan_run(o->plan, NULL, &o->d), MSD_OK);
	const float *y = msd_plan_output(o->plan, 0);
	for (size_t i = 0; i < 4; i++)
		cr_expect_float_eq(y[i], want[i], 1e-6f, "%zu", i);
	one_end(o);
}

/* The first tap at the first place half a row down, the third at the second a tenth to
 * the left: of 8, 12, 20, 24 that makes 9.5 and 11.9. */
Test(region, taps_of_a_deformed_convolution_are_moved)
{
	float offsets[32] = {0};

	offsets[0] = 0.5f;
	offsets[5 * 4 + 1] = -0.1f;
	struct one o = deform(offsets, NULL, 0);
	expect_deformed(&o, (const float[]){9.5f, 11.9f, 20, 24});
}

Test(region, a_mask_weighs_the_taps_of_a_deformed_convolution)
{
	const float offsets[32] = {0};
	float mask[16];

	for (size_t i = 0; i < 16; i++)
		mask[i] = i < 4 ? 2 : 0;
	struct one o = deform(offsets, mask, 4);
	expect_deformed(&o, (const float[]){0, 2, 6, 8});
}

Test(region, taps_outside_of_the_image_see_nothing)
{
	float offsets[32];

	for (size_t i = 0; i < 32; i++)
		offsets[i] = i % 2 == 0 ? 1e30f : -1e30f;
	offsets[0] = NAN;
	struct one o = deform(offsets, NULL, 0);
	expect_deformed(&o, (const float[]){0, 0, 0, 0});
}

Test(region, a_mask_of_other_taps_is_refused)
{
	static const float offsets[32];
	static const float mask[12];
	struct one o = deform(offsets, mask, 3);

	cr_assert_eq(msd_plan_create(o.g, &o.plan, &o.d), MSD_BAD_ARTIFACT);
	expect_said(&o, "has not 1 for each tap at each place");
	one_end(&o);
}
