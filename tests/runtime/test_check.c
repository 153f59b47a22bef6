#include <criterion/criterion.h>
#include <string.h>

#include "runtime/module/check.h"
#include "tests/runtime/support.h"

#define CLASSIC FIXTURE_DIR "/fixture_classic.so"
#define MODERN FIXTURE_DIR "/fixture_modern.so"
#define ASSERTS FIXTURE_DIR "/fixture_022.so"

static void expect_bad(struct lib *lib, const char *name, struct msd_any *args,
		       size_t n, const char *text)
{
	struct msd_any ret;

	cr_expect_eq(lib_call(lib, name, args, n, &ret), MSD_BAD_ARGUMENT);
	cr_expect_str_eq(msd_diag_text(&lib->d), text);
}

/* A call of axpb(1.5, x, 2, y) with one argument replaced. */
static void expect_axpb(size_t i, struct msd_any v, const char *text)
{
	struct msd_tensor *x = tensor_counting(4);
	struct msd_tensor *y = tensor_counting(4);
	struct msd_any args[] = {msd_float(1.5), msd_of_obj(&x->obj), msd_int(2),
				 msd_of_obj(&y->obj)};
	struct lib lib;

	lib_must_open(&lib, CLASSIC);
	args[i] = v;
	expect_bad(&lib, "axpb", args, 4, text);
	lib_close(&lib);
	msd_obj_unref(&x->obj);
	msd_obj_unref(&y->obj);
}

Test(check, classic_code_is_not_entered_with_what_is_no_tensor)
{
	struct msd_any text = {.type = MSD_T_SMALL_STR, .small = 2, .as.bytes = "hi"};

	expect_axpb(1, msd_int(3),
		    "axpb: argument 1: expected a float32 tensor of rank 1, got int");
	expect_axpb(1, msd_none(),
		    "axpb: argument 1: expected a float32 tensor of rank 1, got none");
	expect_axpb(3, text,
		    "axpb: argument 3: expected a float32 tensor of rank 1, got str");
}

/* A parameter that wants a tensor, or of which nothing is known. */
static msd_err give_object(bool is_known, bool is_typed, bool wants_object)
{
	static struct msd_obj own = {.counts = MSD_FRESH_COUNTS,
				     .type = MSD_T_DYNAMIC + 40};
	struct msd_param p = {.kind = wants_object ? MSD_P_OTHER : MSD_P_TENSOR,
			      .ndim = -1};
	const struct msd_signature s = {
		.known = is_known, .params = &p, .n_params = is_known};
	const struct msd_call_rules rules = {
		.info = {.name = "f", .style = MSD_FUNC_PRIM, .signature = &s},
		.data_align = 1,
		.is_typed = is_typed};
	const struct msd_any v = msd_of_obj(&own);

	return msd_check_args(&rules, &v, 1, NULL);
}

Test(check, an_object_is_no_tensor_and_compiled_code_takes_none)
{
	cr_expect_eq(give_object(true, false, false), MSD_BAD_ARGUMENT);
	cr_expect_eq(give_object(true, true, false), MSD_BAD_ARGUMENT);
	cr_expect_eq(give_object(false, false, false), MSD_BAD_ARGUMENT);
	cr_expect_eq(give_object(false, true, false), MSD_OK, "it checks by itself");
	cr_expect_eq(give_object(true, true, true), MSD_OK);
}

Test(check, scalar_of_another_kind_is_named)
{
	expect_axpb(2, msd_float(1), "axpb: argument 2: expected an int, got float");
}

Test(check, dtype_and_rank_are_compared)
{
	const int64_t shape[] = {2, 2};
	struct msd_tensor *t =
		msd_tensor_new((struct msd_dtype){MSD_DT_INT, 64, 1}, shape, 2);

	expect_axpb(
		1, (struct msd_any){.type = MSD_T_TENSOR, .as.obj = &t->obj},
		"axpb: argument 1: expected a float32 tensor of rank 1, got int64 of "
		"rank 2");
	msd_obj_unref(&t->obj);
}

Test(check, fixed_extents_are_compared)
{
	const struct msd_dtype f32 = {MSD_DT_FLOAT, 32, 1};
	const int64_t shape[] = {4, 9};
	struct msd_tensor *t = msd_tensor_new(f32, shape, 2);
	struct msd_any args[] = {msd_of_obj(&t->obj), msd_float(1),
				 msd_of_obj(&t->obj)};
	struct lib lib;

	lib_must_open(&lib, ASSERTS);
	expect_bad(&lib, "scale", args, 3,
		   "scale: argument 0 (A): expected shape [4, 8], got shape [4, 9]");
	lib_close(&lib);
	msd_obj_unref(&t->obj);
}

Test(check, another_rank_is_told_with_both_shapes)
{
	struct msd_tensor *t = tensor_counting(4);
	struct msd_any args[] = {msd_of_obj(&t->obj), msd_float(1),
				 msd_of_obj(&t->obj)};
	struct lib lib;

	lib_must_open(&lib, ASSERTS);
	expect_bad(&lib, "scale", args, 3,
		   "scale: argument 0 (A): expected shape [4, 8], got shape [4]");
	lib_close(&lib);
	msd_obj_unref(&t->obj);
}

Test(check, arity_is_compared)
{
	struct lib lib;

	lib_must_open(&lib, MODERN);
	expect_bad(&lib, "addone", NULL, 0,
		   "addone: expected 2 arguments, got 0; it is addone(A: Tensor([n], "
		   "float32), B: Tensor([n], float32)); what it fills is an "
		   "argument, too: out:DTYPE[SHAPE] of modser call, an array in "
		   "Python");
	lib_close(&lib);
}

Test(check, misaligned_data_is_refused)
{
	struct msd_tensor *x = tensor_counting(40);
	struct msd_dltensor shifted = x->dl;
	int64_t shape[] = {4};
	struct msd_any v = {.type = MSD_T_DLTENSOR, .as.dl = &shifted};

	shifted.shape = shape;
	shifted.data = (char *)x->dl.data + 64;
	expect_axpb(
		1, v,
		"axpb: argument 1: expected data aligned to 128 bytes, got an address "
		"aligned to 64");
	msd_obj_unref(&x->obj);
}

Test(check, device_tensor_and_byte_offset_are_refused)
{
	struct msd_tensor *x = tensor_counting(4);
	struct msd_dltensor other = x->dl;
	struct msd_any v = {.type = MSD_T_DLTENSOR, .as.dl = &other};

	other.device.type = MSD_DEV_CUDA;
	expect_axpb(1, v,
		    "axpb: argument 1: expected a tensor on cpu, got one on cuda:0");
	other = x->dl;
	other.byte_offset = 128;
	expect_axpb(1, v,
		    "axpb: argument 1: expected byte_offset 0, got byte_offset 128");
	msd_obj_unref(&x->obj);
}

Test(check, objects_without_meaning_for_compiled_code_are_refused)
{
	struct msd_array *a = msd_array_new(0);
	struct msd_any v = msd_of_obj(&a->obj);
	struct lib lib;

	lib_must_open(&lib, MODERN);
	expect_bad(&lib, "ret_int", &v, 1,
		   "ret_int: argument 0: expected a tensor, a number or a string, got "
		   "tuple");
	lib_close(&lib);
	msd_any_drop(&v);
}

Test(check, int_wider_than_its_parameter_is_refused)
{
	struct msd_param param = {.kind = MSD_P_INT,
				  .has_dtype = true,
				  .dtype = {MSD_DT_INT, 32, 1},
				  .ndim = -1};
	const struct msd_signature s = {.known = true, .params = &param, .n_params = 1};
	const struct msd_call_rules rules = {.info = {.name = "f", .signature = &s}};
	struct msd_diag d = {0};
	struct msd_any v = msd_int(INT32_MIN);

	cr_expect_eq(msd_check_args(&rules, &v, 1, &d), MSD_OK);
	v = msd_int((int64_t)INT32_MAX + 1);
	cr_expect_eq(msd_check_args(&rules, &v, 1, &d), MSD_BAD_ARGUMENT);
	cr_expect_str_eq(msd_diag_text(&d),
			 "f: argument 0: expected int32, got 2147483648");
	param.dtype = (struct msd_dtype){MSD_DT_UINT, 8, 1};
	v = msd_int(255);
	cr_expect_eq(msd_check_args(&rules, &v, 1, &d), MSD_OK);
	v = msd_int(-1);
	cr_expect_eq(msd_check_args(&rules, &v, 1, &d), MSD_BAD_ARGUMENT);
	msd_diag_finish(&d);
}

Test(check, shapes_and_tuples_are_told_from_other_values)
{
	char names[2][2] = {"s", "t"};
	struct msd_param params[] = {
		{.name = names[0], .kind = MSD_P_SHAPE, .ndim = -1},
		{.name = names[1], .kind = MSD_P_TUPLE, .ndim = -1}};
	const struct msd_signature s = {.known = true, .params = params, .n_params = 2};
	const struct msd_call_rules rules = {.info = {.name = "f", .signature = &s},
					     .data_align = 64};
	struct msd_tensor *x = tensor_counting(4);
	struct msd_diag d = {0};
	struct msd_any args[] = {msd_of_obj(&msd_shape_new(NULL, 0)->obj),
				 msd_of_obj(&msd_array_new(0)->obj)};

	cr_expect_eq(msd_check_args(&rules, args, 2, &d), MSD_OK);
	struct msd_any swapped[] = {args[1], args[0]};
	cr_expect_eq(msd_check_args(&rules, swapped, 2, &d), MSD_BAD_ARGUMENT);
	cr_expect_str_eq(msd_diag_text(&d),
			 "f: argument 0 (s): expected a shape, got tuple");
	swapped[0] = args[0];
	swapped[1] = msd_of_obj(&x->obj);
	cr_expect_eq(msd_check_args(&rules, swapped, 2, &d), MSD_BAD_ARGUMENT);
	cr_expect_str_eq(msd_diag_text(&d),
			 "f: argument 1 (t): expected a tuple, got tensor");
	msd_any_drop(&args[0]);
	msd_any_drop(&args[1]);
	msd_obj_unref(&x->obj);
	msd_diag_finish(&d);
}
