#include <criterion/criterion.h>
#include <stdint.h>
#include <string.h>

#include "runtime/value/error.h"
#include "tests/runtime/graph/graph_tree.h"

/* A graph of three float32 [4] entries: x, y = FUNC(x), z = SECOND(y, x). */
#define OP(name, func, flatten, inputs)                                                \
	"{\"op\": \"tvm_op\", \"name\": \"" name                                       \
	"\", \"attrs\": {\"func_name\": \"" func                                       \
	"\", \"num_outputs\": \"1\", \"flatten_data\": \"" flatten                     \
	"\"}, \"inputs\": " inputs "}"
#define INPUT(name) "{\"op\": \"null\", \"name\": \"" name "\", \"inputs\": []}"
#define GRAPH(nodes, args, heads, dtypes, storages, shapes, rows)                      \
	"{\"nodes\": [" nodes "], \"arg_nodes\": " args ", \"heads\": " heads          \
	", \"attrs\": {\"dltype\": [\"list_str\", " dtypes                             \
	"], \"storage_id\": [\"list_int\", " storages                                  \
	"], \"shape\": [\"list_shape\", " shapes "]}, \"node_row_ptr\": " rows "}"
#define F32 "\"float32\""

static int addone(void *self, const struct msd_any *args, int32_t n,
		  struct msd_any *ret)
{
	const struct msd_dltensor *a = args[0].as.dl;
	(void)self;
	(void)ret;

	if (n != 2 || a->ndim != 1)
		return msd_abi_raise("TypeError", "addone takes two tensors of rank 1");
	for (int64_t i = 0; i < a->shape[0]; i++)
		((float *)args[1].as.dl->data)[i] = ((const float *)a->data)[i] + 1;
	return 0;
}

static int add(void *self, const struct msd_any *args, int32_t n, struct msd_any *ret)
{
	(void)self;
	(void)n;
	(void)ret;
	for (int64_t i = 0; i < 4; i++) {
		((float *)args[2].as.dl->data)[i] =
			((const float *)args[0].as.dl->data)[i] +
			((const float *)args[1].as.dl->data)[i];
	}
	return 0;
}

static int fails(void *self, const struct msd_any *args, int32_t n, struct msd_any *ret)
{
	(void)self;
	(void)args;
	(void)n;
	(void)ret;
	return msd_abi_raise("ValueError", "no");
}

static _Alignas(128) float linked[4] = {10, 20, 30, 40};

static int lookup(void *self, const struct msd_any *args, int32_t n,
		  struct msd_any *ret)
{
	(void)self;
	(void)n;
	if (args[0].as.i == 5)
		*ret = (struct msd_any){.type = MSD_T_POINTER, .as.p = linked};
	if (args[0].as.i == 6) /* not aligned */
		*ret = (struct msd_any){.type = MSD_T_POINTER, .as.p = linked + 1};
	return 0;
}

static struct msd_any tensor(float first)
{
	const int64_t n = 4;
	struct msd_tensor *t =
		msd_tensor_new((struct msd_dtype){MSD_DT_FLOAT, 32, 1}, &n, 1);

	for (int i = 0; i < 4; i++)
		((float *)t->dl.data)[i] = first + (float)i;
	return msd_of_obj(&t->obj);
}

static float at(const struct msd_any *v, int i)
{
	return ((const float *)msd_any_dltensor(v)->data)[i];
}

static void open_graph(struct graph_tree *t, const char *json)
{
	graph_tree_add(t, "addone", addone);
	graph_tree_add(t, "add", add);
	graph_tree_add(t, "fails", fails);
	cr_assert_eq(graph_tree_open(t, json, NULL, NULL, 0), MSD_OK, "%s",
		     msd_diag_text(&t->d));
}

/* Run with x = 0 1 2 3; the result's first element is @want. */
static void expect_first(struct graph_tree *t, float want)
{
	struct msd_any x = tensor(0);
	struct msd_any ret;

	cr_assert_eq(graph_tree_run(t, &x, 1, &ret), MSD_OK, "%s",
		     msd_diag_text(&t->d));
	cr_assert_eq(at(&ret, 0), want);
	cr_assert_eq(at(&x, 0), 0, "the caller's tensor was written");
	msd_any_drop(&ret);
	msd_any_drop(&x);
}

static const char chain[] =
	GRAPH(INPUT("x") "," OP("a", "addone", "0", "[[0,0,0]]") "," OP(
		      "b", "add", "0", "[[1,0,0],[0,0,0]]"),
	      "[0]", "[[2,0,0]]", "[" F32 "," F32 "," F32 "]", "[0,1,2]",
	      "[[4],[4],[4]]", "[0,1,2,3]");

Test(graph_run, operators_run_in_order)
{
	struct graph_tree t = {0};

	open_graph(&t, chain);
	expect_first(&t, 1);
	expect_first(&t, 1);
	graph_tree_close(&t);
}

Test(graph_run, result_outlives_the_next_run_and_the_module)
{
	struct graph_tree t = {0};
	struct msd_any x = tensor(0);
	struct msd_any y = tensor(10);
	struct msd_any first, second;

	open_graph(&t, chain);
	cr_assert_eq(graph_tree_run(&t, &x, 1, &first), MSD_OK);
	cr_assert_eq(graph_tree_run(&t, &y, 1, &second), MSD_OK);
	graph_tree_close(&t);
	cr_assert_eq(at(&first, 0), 1);
	cr_assert_eq(at(&second, 0), 21);
	cr_assert_eq((uintptr_t)msd_any_dltensor(&first)->data % 128, 0);
	msd_any_drop(&first);
	msd_any_drop(&second);
	msd_any_drop(&x);
	msd_any_drop(&y);
}

Test(graph_run, an_input_that_operators_write_over_is_copied)
{
	struct graph_tree t = {0};

	/* b = a + x, into x's storage */
	open_graph(&t, GRAPH(INPUT("x") "," OP("a", "addone", "0", "[[0,0,0]]") "," OP(
				     "b", "add", "0", "[[1,0,0],[0,0,0]]"),
			     "[0]", "[[2,0,0]]", "[" F32 "," F32 "," F32 "]", "[0,1,0]",
			     "[[4],[4],[4]]", "[0,1,2,3]"));
	expect_first(&t, 1);
	expect_first(&t, 1);
	graph_tree_close(&t);
}

Test(graph_run, a_nop_is_a_view_of_another_shape)
{
	struct graph_tree t = {0};
	struct msd_any x = tensor(0);
	struct msd_any ret;

	open_graph(&t, GRAPH(INPUT("x") "," OP("a", "addone", "0", "[[0,0,0]]") "," OP(
				     "r", "__nop", "0", "[[1,0,0]]"),
			     "[0]", "[[1,0,0],[2,0,0]]", "[" F32 "," F32 "," F32 "]",
			     "[0,1,1]", "[[4],[4],[2,2]]", "[0,1,2,3]"));
	cr_assert_eq(graph_tree_run(&t, &x, 1, &ret), MSD_OK);
	const struct msd_array *tuple = ret.as.p;
	cr_assert_eq(tuple->size, 2);
	cr_assert_eq(msd_any_dltensor(&tuple->items[1])->ndim, 2);
	cr_assert_eq(at(&tuple->items[1], 3), 4);
	msd_any_drop(&ret);
	msd_any_drop(&x);
	graph_tree_close(&t);
}

Test(graph_run, a_copy_copies)
{
	struct graph_tree t = {0};

	open_graph(&t, GRAPH(INPUT("x") "," OP("c", "__copy", "0", "[[0,0,0]]"), "[0]",
			     "[[1,0,0]]", "[" F32 "," F32 "]", "[0,1]", "[[4],[4]]",
			     "[0,1,2]"));
	expect_first(&t, 0);
	graph_tree_close(&t);
}

Test(graph_run, an_input_may_be_an_output)
{
	struct graph_tree t = {0};
	struct msd_any x = tensor(3);
	struct msd_any ret;

	open_graph(&t, GRAPH(INPUT("x"), "[0]", "[[0,0,0]]", "[" F32 "]", "[0]",
			     "[[4]]", "[0,1]"));
	cr_assert_eq(graph_tree_run(&t, &x, 1, &ret), MSD_OK);
	msd_any_drop(&x);
	cr_assert_eq(at(&ret, 0), 3);
	msd_any_drop(&ret);
	graph_tree_close(&t);
}

Test(graph_run, flattened_tensors_have_rank_one)
{
	struct graph_tree t = {0};
	const int64_t shape[] = {2, 2};
	struct msd_any ret;
	struct msd_tensor *x =
		msd_tensor_new((struct msd_dtype){MSD_DT_FLOAT, 32, 1}, shape, 2);
	struct msd_any arg = msd_of_obj(&x->obj);

	memset(x->dl.data, 0, 16);
	open_graph(&t, GRAPH(INPUT("x") "," OP("a", "addone", "1", "[[0,0,0]]"), "[0]",
			     "[[1,0,0]]", "[" F32 "," F32 "]", "[0,1]", "[[2,2],[2,2]]",
			     "[0,1,2]"));
	cr_assert_eq(graph_tree_run(&t, &arg, 1, &ret), MSD_OK, "%s",
		     msd_diag_text(&t.d));
	cr_assert_eq(msd_any_dltensor(&ret)->ndim, 2);
	cr_assert_eq(at(&ret, 3), 1);
	msd_any_drop(&ret);
	msd_any_drop(&arg);
	graph_tree_close(&t);
}

static const char with_param[] =
	GRAPH(INPUT("x") "," INPUT("w") "," OP("b", "add", "0", "[[0,0,0],[1,0,0]]"),
	      "[0,1]", "[[2,0,0]]", "[" F32 "," F32 "," F32 "]", "[0,5,2]",
	      "[[4],[4],[4]]", "[0,1,2,3]");

Test(graph_run, parameters_are_no_inputs)
{
	struct graph_tree t = {0};

	graph_tree_add(&t, "add", add);
	cr_assert_eq(graph_tree_open(&t, with_param, "w", (float[]){100, 1, 2, 3}, 4),
		     MSD_OK);
	expect_first(&t, 100);
	graph_tree_close(&t);
}

Test(graph_run, linked_parameters_are_found)
{
	struct graph_tree t = {0};

	graph_tree_add(&t, "_lookup_linked_param", lookup);
	open_graph(&t, with_param);
	expect_first(&t, 10);
	graph_tree_close(&t);
}

Test(graph_run, linked_parameters_that_are_not_aligned_are_copied)
{
	struct graph_tree t = {0};

	graph_tree_add(&t, "_lookup_linked_param", lookup);
	open_graph(&t, GRAPH(INPUT("x") "," INPUT("w") "," OP("b", "add", "0",
							      "[[0,0,0],[1,0,0]]"),
			     "[0,1]", "[[2,0,0]]", "[" F32 "," F32 "," F32 "]",
			     "[0,6,2]", "[[4],[3],[4]]", "[0,1,2,3]"));
	expect_first(&t, 20);
	graph_tree_close(&t);
}

Test(graph_run, a_parameter_of_another_shape_is_refused)
{
	struct graph_tree t = {0};

	graph_tree_add(&t, "add", add);
	cr_assert_eq(graph_tree_open(&t, with_param, "w", (float[]){1, 2}, 2),
		     MSD_BAD_ARTIFACT);
	cr_assert_str_eq(
		msd_diag_text(&t.d),
		"parameter w: the graph has Tensor([4], float32) for it, it is "
		"Tensor([2], float32)");
	graph_tree_close(&t);
}

Test(graph_run, writing_over_a_parameter_is_refused)
{
	struct graph_tree t = {0};

	graph_tree_add(&t, "add", add);
	cr_assert_eq(
		graph_tree_open(&t,
				GRAPH(INPUT("x") "," INPUT("w") "," OP(
					      "b", "add", "0", "[[0,0,0],[1,0,0]]"),
				      "[0,1]", "[[2,0,0]]", "[" F32 "," F32 "," F32 "]",
				      "[0,5,5]", "[[4],[4],[4]]", "[0,1,2,3]"),
				"w", (float[]){1, 2, 3, 4}, 4),
		MSD_BAD_ARTIFACT);
	graph_tree_close(&t);
}

Test(graph_run, all_missing_functions_are_named_with_their_nodes)
{
	struct graph_tree t = {0};

	cr_assert_eq(graph_tree_open(&t, chain, NULL, NULL, 0), MSD_BAD_ARTIFACT);
	cr_assert_str_eq(msd_diag_text(&t.d),
			 "graph: the library does not have the functions of its nodes: "
			 "addone (node 1, a), add (node 2, b)");
	graph_tree_close(&t);
}

/* An import that cannot run here may have them: then the model says so at a call. */
Test(graph_run, functions_of_a_refused_module_fail_at_the_call)
{
	struct graph_tree t = {0};
	struct msd_any x = tensor(0);
	struct msd_any ret;

	t.lib.refusal = strdup("module 1 (tensorrt) cannot run here: no TensorRT");
	cr_assert_eq(graph_tree_open(&t, chain, NULL, NULL, 0), MSD_OK, "%s",
		     msd_diag_text(&t.d));
	cr_assert_eq(graph_tree_run(&t, &x, 1, &ret), MSD_UNSUPPORTED);
	cr_assert_str_eq(msd_diag_text(&t.d),
			 "module 0 (GraphExecutorFactory) cannot run here: module 1 "
			 "(tensorrt) cannot run here: no TensorRT; functions are "
			 "missing: addone (node 1, a), add (node 2, b)");
	msd_any_drop(&x);
	graph_tree_close(&t);
}

Test(graph_run, a_failing_operator_is_named)
{
	struct graph_tree t = {0};
	struct msd_any x = tensor(0);
	struct msd_any ret;

	open_graph(&t, GRAPH(INPUT("x") "," OP("conv", "fails", "0", "[[0,0,0]]"),
			     "[0]", "[[1,0,0]]", "[" F32 "," F32 "]", "[0,1]",
			     "[[4],[4]]", "[0,1,2]"));
	cr_assert_eq(graph_tree_run(&t, &x, 1, &ret), MSD_CALL_FAILED);
	cr_assert_str_eq(msd_diag_text(&t.d), "node 1 (conv: fails): ValueError: no");
	msd_any_drop(&x);
	graph_tree_close(&t);
}
