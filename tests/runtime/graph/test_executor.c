/* An executor that keeps its state, by TVM's names: here that of an ahead-of-time
 * compiled model, sum = x + bias + 1 and twice = 2 * sum, with bias 10 20 30. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "runtime/load/loaded.h"
#include "runtime/module/instance.h"
#include "tests/runtime/support.h"

static struct lib lib;
static struct msd_instance *instance;

static void open_model(const char *path)
{
	lib_must_open(&lib, path);
	cr_assert_eq(msd_loaded_instance(lib.loaded, &instance, &lib.d), MSD_OK);
}

static void close_model(void)
{
	msd_instance_close(instance);
	lib_close(&lib);
}

static msd_err call(const char *name, struct msd_any *args, size_t n,
		    struct msd_any *ret)
{
	struct msd_function *fn;
	bool takes_out;

	*ret = msd_none();
	cr_assert_eq(msd_instance_find(instance, name, &fn, &takes_out, &lib.d), MSD_OK,
		     "%s", msd_diag_text(&lib.d));
	cr_assert_eq(takes_out, strcmp(name, "get_output") == 0);
	return msd_loaded_call(lib.loaded, fn, args, n, ret, &lib.d);
}

static void must(const char *name, struct msd_any *args, size_t n, struct msd_any *ret)
{
	cr_assert_eq(call(name, args, n, ret), MSD_OK, "%s: %s", name,
		     msd_diag_text(&lib.d));
}

static void expect_refused(const char *name, struct msd_any *args, size_t n,
			   const char *text)
{
	struct msd_any ret;

	cr_expect_eq(call(name, args, n, &ret), MSD_BAD_ARGUMENT);
	cr_expect_str_eq(msd_diag_text(&lib.d), text);
}

static struct msd_any str(const char *s)
{
	struct msd_str *made = msd_str_new(s, strlen(s), MSD_T_STR);

	return msd_of_obj(&made->obj);
}

static float first_output(void)
{
	struct msd_any zero = msd_int(0);
	struct msd_any ret;

	must("get_output", &zero, 1, &ret);
	const float v = *(const float *)msd_any_dltensor(&ret)->data;
	msd_any_drop(&ret);
	return v;
}

static void expect_inputs_kept(const char *path)
{
	struct msd_any ret;
	struct msd_any args[2] = {str("x"), msd_of_obj(&tensor_counting(3)->obj)};

	open_model(path);
	((float *)msd_any_dltensor(&args[1])->data)[0] = 5;
	must("set_input", args, 2, &ret);
	((float *)msd_any_dltensor(&args[1])->data)[0] = 77; /* it was copied */
	must("run", NULL, 0, &ret);
	cr_expect_eq(first_output(), 16);
	must("run", NULL, 0, &ret);
	cr_expect_eq(first_output(), 16);
	must("get_input", args, 1, &ret);
	cr_expect_eq(*(const float *)msd_any_dltensor(&ret)->data, 5);
	msd_any_drop(&ret);
	msd_any_drop(&args[0]);
	args[0] = str("bias"); /* a parameter, for this instance alone */
	must("set_input", args, 2, &ret);
	must("run", NULL, 0, &ret);
	cr_expect_eq(first_output(), 83);
	must("get_num_inputs", NULL, 0, &ret);
	cr_expect_eq(ret.as.i, 2);
	must("get_num_outputs", NULL, 0, &ret);
	cr_expect_eq(ret.as.i, 2);
	must("get_input_index", args, 1, &ret);
	cr_expect_eq(ret.as.i, 1);
	msd_any_drop(&args[0]);
	msd_any_drop(&args[1]);
	close_model();
}

Test(executor, an_instance_keeps_its_inputs_and_outputs)
{
	expect_inputs_kept(AOT_LIBRARY);
}

Test(executor, an_instance_with_planned_memory_does_too)
{
	expect_inputs_kept(AOT_PLANNED_LIBRARY);
}

Test(executor, what_was_not_set_is_zero)
{
	struct msd_any ret;

	open_model(AOT_LIBRARY);
	must("run", NULL, 0, &ret);
	cr_expect_eq(first_output(), 11);
	close_model();
}

Test(executor, a_result_goes_to_the_tensor_that_is_given)
{
	struct msd_any ret;
	struct msd_any args[2] = {msd_int(1), msd_of_obj(&tensor_counting(3)->obj)};

	open_model(AOT_LIBRARY);
	must("run", NULL, 0, &ret);
	must("get_output", args, 2, &ret);
	cr_expect_eq(*(const float *)msd_any_dltensor(&args[1])->data, 22);
	expect_refused(
		"set_output_zero_copy", args, 2,
		"set_output_zero_copy: argument 1, for output 1: expected a resident "
		"tensor, which stays after the call");
	msd_any_drop(&args[1]);
	close_model();
}

Test(executor, memory_that_stays_is_used_where_it_is)
{
	struct msd_any ret;
	struct msd_tensor *resident = tensor_counting(3);
	struct msd_tensor *view = msd_tensor_view(
		resident->dl.data, resident->dl.device, resident->dl.dtype,
		resident->dl.shape, 1, &resident->obj, NULL, NULL);
	struct msd_any args[2] = {msd_int(0), msd_of_obj(&view->obj)};

	open_model(AOT_LIBRARY);
	must("set_input_zero_copy", args, 2, &ret);
	((float *)resident->dl.data)[0] = 9;
	must("run", NULL, 0, &ret);
	cr_expect_eq(first_output(), 20);
	args[0] = msd_int(1);
	must("set_output_zero_copy", args, 2, &ret);
	must("run", NULL, 0, &ret);
	cr_expect_eq(((const float *)resident->dl.data)[0], 40);
	msd_any_drop(&args[1]);
	msd_obj_unref(&resident->obj);
	close_model();
}

Test(executor, inputs_are_described_without_the_parameters)
{
	struct msd_any ret;
	struct msd_span name;

	open_model(AOT_LIBRARY);
	must("get_input_info", NULL, 0, &ret);
	const struct msd_array *all = ret.as.p;
	cr_assert_eq(all->size, 1);
	const struct msd_array *x = all->items[0].as.p;
	cr_expect(msd_any_str(&x->items[0], &name) && msd_span_is(name, "x"));
	cr_expect_eq(((const struct msd_shape *)x->items[1].as.p)->dim[0], 3);
	cr_expect(msd_any_str(&x->items[2], &name) && msd_span_is(name, "float32"));
	msd_any_drop(&ret);
	must("get_output_info", NULL, 0, &ret);
	cr_expect_eq(((const struct msd_array *)ret.as.p)->size, 2);
	msd_any_drop(&ret);
	close_model();
}

Test(executor, an_input_of_another_type_is_refused_with_both)
{
	struct msd_any args[2] = {str("x"), msd_of_obj(&tensor_counting(4)->obj)};

	open_model(AOT_LIBRARY);
	expect_refused("set_input", args, 2,
		       "set_input: argument 1, for input 0 (x): expected Tensor([3], "
		       "float32), got Tensor([4], float32)");
	msd_any_dltensor(&args[1])->shape[0] = 3;
	msd_any_dltensor(&args[1])->dtype = (struct msd_dtype){MSD_DT_INT, 32, 1};
	expect_refused("set_input", args, 2,
		       "set_input: argument 1, for input 0 (x): expected Tensor([3], "
		       "float32), got Tensor([3], int32)");
	msd_any_drop(&args[0]);
	msd_any_drop(&args[1]);
	close_model();
}

Test(executor, a_wrong_number_of_arguments_is_named)
{
	struct msd_any args[2] = {str("x"), msd_int(7)};

	open_model(AOT_LIBRARY);
	expect_refused("set_input", args, 1,
		       "set_input: expected at least 2 arguments, got 1");
	expect_refused("get_num_inputs", args, 1,
		       "get_num_inputs: expected 0 arguments, got 1");
	expect_refused("get_output", NULL, 0,
		       "get_output: expected 1 to 2 arguments, got 0");
	expect_refused("get_input", args, 2, "get_input: expected 1 argument, got 2");
	msd_any_drop(&args[0]);
	close_model();
}

Test(executor, what_the_model_does_not_have_is_named)
{
	struct msd_any name = str("x");
	struct msd_any number = msd_int(7);

	open_model(AOT_LIBRARY);
	expect_refused(
		"get_input", &number, 1,
		"get_input: argument 0: the model has no input 7; its inputs are: "
		"0 (x)");
	expect_refused("get_output", &name, 1,
		       "get_output: argument 0: the model has no output \"x\"; its "
		       "outputs are: 0 (output0), 1 (output1)");
	expect_refused("load_params", &number, 1,
		       "load_params: argument 0: expected the bytes of a .params file, "
		       "got int");
	msd_any_drop(&name);
	close_model();
}

/* A compiler drops inputs that a model does not use; TVM lets callers set them. */
Test(executor, an_input_that_was_dropped_is_refused_unless_asked_for)
{
	struct msd_any ret;
	struct msd_any args[2] = {str("nobody"), msd_of_obj(&tensor_counting(3)->obj)};

	open_model(AOT_LIBRARY);
	expect_refused("set_input", args, 2,
		       "set_input: argument 0: the model has no input \"nobody\"; its "
		       "inputs are: x");
	expect_refused("get_input", args, 1,
		       "get_input: argument 0: the model has no input \"nobody\"; its "
		       "inputs are: x");
	instance->tvm_inputs = true;
	must("set_input", args, 2, &ret);
	must("get_input", args, 1, &ret);
	cr_expect_eq(ret.type, MSD_T_NONE);
	msd_any_drop(&args[0]);
	msd_any_drop(&args[1]);
	close_model();
}

Test(executor, all_inputs_may_come_with_the_run)
{
	struct msd_any ret;
	struct msd_any args[4] = {msd_int(1), msd_int(0), str("x"),
				  msd_of_obj(&tensor_counting(3)->obj)};

	open_model(AOT_LIBRARY);
	must("run_from_inputs", args, 4, &ret);
	const struct msd_array *all = ret.as.p;
	cr_assert_eq(all->size, 2);
	cr_expect_eq(((const float *)msd_any_dltensor(&all->items[1])->data)[2], 66);
	msd_any_drop(&ret);
	expect_refused(
		"run_from_inputs", args, 3,
		"run_from_inputs: expected a device's type and number, then pairs of "
		"an "
		"input and its tensor; got 3 arguments");
	msd_any_drop(&args[2]);
	msd_any_drop(&args[3]);
	close_model();
}

Test(executor, an_unknown_function_is_answered_with_those_that_are_there)
{
	struct msd_function *fn;
	bool takes_out;

	open_model(AOT_LIBRARY);
	cr_assert_eq(msd_instance_find(instance, "start", &fn, &takes_out, &lib.d),
		     MSD_NOT_FOUND);
	cr_expect_not_null(
		strstr(msd_diag_text(&lib.d),
		       "an instance has no function start; it has get_input, "
		       "get_input_index"));
	close_model();
}
