#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/executor/relax/vm.h"
#include "runtime/value/error.h"
#include "tests/runtime/relax/vm_tree.h"

static int lib_dec(void *self, const struct msd_any *args, int32_t n,
		   struct msd_any *ret)
{
	(void)self;
	(void)n;
	*ret = msd_int(args[0].as.i - 1);
	return 0;
}

static int lib_fail(void *self, const struct msd_any *args, int32_t n,
		    struct msd_any *ret)
{
	(void)self;
	(void)args;
	(void)n;
	(void)ret;
	return msd_abi_raise("ValueError", "line one\nline two");
}

struct fixture {
	struct vm_tree tree;
	struct image img;
	struct msd_diag d;
	struct msd_any ret;
};

static void fixture_finish(struct fixture *f)
{
	msd_any_drop(&f->ret);
	vm_tree_close(&f->tree);
	msd_diag_finish(&f->d);
}

static void open_addone(struct fixture *f)
{
	addone_write(&f->tree, &f->img);
	cr_assert_eq(vm_tree_open(&f->tree, &f->img, &f->d), MSD_OK, "%s",
		     msd_diag_text(&f->d));
}

Test(relax_vm, runs_a_function_of_dynamic_shape)
{
	struct fixture f = {0};
	struct msd_any x = f32_tensor((float[]){1, 2, 3}, 3);

	open_addone(&f);
	cr_assert_eq(vm_tree_call(&f.tree, "main", &x, 1, &f.ret, &f.d), MSD_OK, "%s",
		     msd_diag_text(&f.d));
	cr_assert_eq(msd_any_dltensor(&f.ret)->shape[0], 3);
	cr_assert_eq(f32_at(&f.ret, 2), 4);
	msd_any_drop(&x);
	fixture_finish(&f);
}

Test(relax_vm, result_outlives_the_vm)
{
	struct fixture f = {0};
	struct msd_any x = f32_tensor((float[]){5}, 1);

	open_addone(&f);
	cr_assert_eq(vm_tree_call(&f.tree, "main", &x, 1, &f.ret, &f.d), MSD_OK);
	vm_tree_close(&f.tree);
	f.tree = (struct vm_tree){0};
	cr_assert_eq(f32_at(&f.ret, 0), 6);
	msd_any_drop(&x);
	fixture_finish(&f);
}

Test(relax_vm, a_parameter_that_does_not_fit_is_a_bad_argument)
{
	struct fixture f = {0};
	struct msd_any x = msd_int(1);

	open_addone(&f);
	cr_assert_eq(vm_tree_call(&f.tree, "main", &x, 1, &f.ret, &f.d),
		     MSD_BAD_ARGUMENT);
	cr_assert_str_eq(msd_diag_text(&f.d),
			 "argument 0 (x: R.Tensor((n,), dtype=\"float32\")): "
			 "expect a Tensor but get int");
	fixture_finish(&f);
}

Test(relax_vm, wrong_arity_names_the_parameters)
{
	struct fixture f = {0};

	open_addone(&f);
	cr_assert_eq(vm_tree_call(&f.tree, "main", NULL, 0, &f.ret, &f.d),
		     MSD_BAD_ARGUMENT);
	cr_assert_str_eq(msd_diag_text(&f.d), "expected 1 argument (x) but got 0");
	fixture_finish(&f);
}

Test(relax_vm, a_failed_call_leaves_the_vm_usable)
{
	struct fixture f = {0};
	struct msd_any x = f32_tensor((float[]){1}, 1);
	struct msd_any bad = msd_none();

	open_addone(&f);
	cr_assert_eq(vm_tree_call(&f.tree, "main", &bad, 1, &f.ret, &f.d),
		     MSD_BAD_ARGUMENT);
	cr_assert_eq(vm_tree_call(&f.tree, "main", &x, 1, &f.ret, &f.d), MSD_OK);
	cr_assert_eq(f32_at(&f.ret, 0), 2);
	msd_any_drop(&x);
	fixture_finish(&f);
}

Test(relax_vm, lists_all_missing_functions_at_once)
{
	struct fixture f = {0};

	image_packed(&f.img, "vm.builtin.copy");
	image_packed(&f.img, "my.conv");
	image_packed(&f.img, "my.pool");
	image_begin(&f.img, "main", 0, "", 1);
	image_ret(&f.img, VOID_REG);
	image_end(&f.img);
	cr_assert_eq(vm_tree_open(&f.tree, &f.img, &f.d), MSD_OK);
	cr_assert_str_eq(f.tree.vm.refusal,
			 "module 0 (relax.VMExecutable) cannot run here: packed "
			 "functions are missing: my.conv, my.pool");
	cr_assert_eq(vm_tree_call(&f.tree, "main", NULL, 0, &f.ret, &f.d),
		     MSD_UNSUPPORTED);
	fixture_finish(&f);
}

Test(relax_vm, names_missing_code_of_compiled_mode)
{
	struct fixture f = {0};

	image_vmtir(&f.img, "main", 1);
	cr_assert_eq(vm_tree_open(&f.tree, &f.img, &f.d), MSD_OK);
	cr_assert_str_eq(f.tree.vm.refusal,
			 "module 0 (relax.VMExecutable) cannot run here: packed "
			 "functions are missing: __vmtir__main");
	fixture_finish(&f);
}

/* loop(i, x): if i { return loop(i - 1, x) } else { return x } */
static void write_loop(struct image *img)
{
	int64_t dec = image_packed(img, "dec");
	int64_t copy = image_packed(img, "vm.builtin.copy");
	int64_t cond = image_packed(img, "vm.builtin.read_if_cond");
	int64_t loop = image_begin(img, "loop", 2, "i,x", 6);

	image_call(img, 2, cond, 1, arg_reg(0));
	image_if(img, 2, 4);
	image_call(img, 3, dec, 1, arg_reg(0));
	image_call(img, 4, loop, 2, arg_reg(3), arg_reg(1));
	image_goto(img, 2);
	image_call(img, 4, copy, 1, arg_reg(1));
	image_ret(img, 4);
	image_end(img);
}

static void open_loop(struct fixture *f)
{
	vm_tree_add(&f->tree, "dec", lib_dec);
	write_loop(&f->img);
	cr_assert_eq(vm_tree_open(&f->tree, &f->img, &f->d), MSD_OK, "%s",
		     msd_diag_text(&f->d));
}

Test(relax_vm, recursion_deeper_than_a_c_stack_allows)
{
	struct fixture f = {0};
	struct msd_any args[] = {msd_int(MSD_RELAX_MAX_DEPTH - 1),
				 f32_tensor((float[]){7}, 1)};

	open_loop(&f);
	cr_assert_eq(vm_tree_call(&f.tree, "loop", args, 2, &f.ret, &f.d), MSD_OK, "%s",
		     msd_diag_text(&f.d));
	cr_assert_eq(f32_at(&f.ret, 0), 7);
	msd_any_drop(&args[1]);
	fixture_finish(&f);
}

Test(relax_vm, endless_recursion_is_an_error_of_bounded_length)
{
	struct fixture f = {0};
	struct msd_any args[] = {msd_int(-1), msd_int(0)};

	open_loop(&f);
	cr_assert_eq(vm_tree_call(&f.tree, "loop", args, 2, &f.ret, &f.d),
		     MSD_CALL_FAILED);
	cr_assert_not_null(
		strstr(msd_diag_text(&f.d), "recursion deeper than 16384 calls"));
	cr_assert_lt(f.d.len, 200);
	/* and afterwards the stack is as good as new */
	args[0] = msd_int(3);
	cr_assert_eq(vm_tree_call(&f.tree, "loop", args, 2, &f.ret, &f.d), MSD_OK);
	fixture_finish(&f);
}

Test(relax_vm, error_of_a_callee_arrives_whole)
{
	struct fixture f = {0};

	vm_tree_add(&f.tree, "fail", lib_fail);
	int64_t fail = image_packed(&f.img, "fail");
	int64_t inner = image_begin(&f.img, "inner", 0, "", 1);
	image_call(&f.img, VOID_REG, fail, 0);
	image_ret(&f.img, VOID_REG);
	image_end(&f.img);
	image_begin(&f.img, "main", 0, "", 1);
	image_call(&f.img, 0, inner, 0);
	image_ret(&f.img, 0);
	image_end(&f.img);
	cr_assert_eq(vm_tree_open(&f.tree, &f.img, &f.d), MSD_OK);
	cr_assert_eq(vm_tree_call(&f.tree, "main", NULL, 0, &f.ret, &f.d),
		     MSD_CALL_FAILED);
	cr_assert_str_eq(msd_diag_text(&f.d),
			 "pc 0: inner: pc 0: fail: ValueError: line one\nline two");
	fixture_finish(&f);
}

Test(relax_vm, constants_are_aligned_copies)
{
	struct fixture f = {0};
	const float data[] = {1.5f, 2.5f};

	int64_t copy = image_packed(&f.img, "vm.builtin.copy");
	image_const_str(&f.img, "odd"); /* so that the blob is not aligned */
	int64_t c = image_const_f32(&f.img, (int64_t[]){2}, 1, data, 2);
	image_begin(&f.img, "main", 0, "", 1);
	image_call(&f.img, 0, copy, 1, arg_const(c));
	image_ret(&f.img, 0);
	image_end(&f.img);
	cr_assert_eq(vm_tree_open(&f.tree, &f.img, &f.d), MSD_OK, "%s",
		     msd_diag_text(&f.d));
	cr_assert_eq(vm_tree_call(&f.tree, "main", NULL, 0, &f.ret, &f.d), MSD_OK);
	cr_assert_eq((uintptr_t)msd_any_dltensor(&f.ret)->data % 128, 0);
	cr_assert_eq(f32_at(&f.ret, 1), 2.5f);
	fixture_finish(&f);
}

/* Open and close: a success, or an error with a text. */
static void expect_opened_or_told(const uint8_t *p, size_t n)
{
	struct vm_tree t = {0};
	struct msd_diag d = {0};

	t.image.p = malloc(n > 0 ? n : 1); /* of exact size: an overread shows */
	memcpy(t.image.p, p, n);
	t.image.n = n;
	msd_err err = vm_tree_open_bytes(&t, &d);
	if (err != MSD_OK)
		cr_assert_gt(d.len, 0);
	vm_tree_close(&t);
	msd_diag_finish(&d);
}

Test(relax_vm, no_prefix_and_no_changed_byte_of_an_image_breaks_the_load)
{
	static const uint8_t values[] = {0, 1, 3, 0x7f, 0xff};
	struct image img = {0};
	struct vm_tree unused = {0};

	addone_write(&unused, &img);
	struct msd_buf b = image_finish(&img);
	for (size_t i = 0; i < b.n; i++) {
		uint8_t old = b.p[i];

		expect_opened_or_told(b.p, i);
		for (size_t k = 0; k < sizeof(values); k++) {
			b.p[i] = values[k];
			expect_opened_or_told(b.p, b.n);
		}
		b.p[i] = old;
	}
	msd_buf_finish(&b);
}

/* outer(c) makes a closure of inner(x, c) = (x, c); main(x, c) invokes it. */
Test(relax_vm, closures_append_what_they_saved)
{
	struct fixture f = {0};
	struct msd_any args[] = {msd_int(1), msd_int(2)};

	int64_t tuple = image_packed(&f.img, "vm.builtin.make_tuple");
	int64_t close = image_packed(&f.img, "vm.builtin.make_closure");
	int64_t invoke = image_packed(&f.img, "vm.builtin.invoke_closure");
	int64_t inner = image_begin(&f.img, "inner", 2, "x,c", 3);
	image_call(&f.img, 2, tuple, 2, arg_reg(0), arg_reg(1));
	image_ret(&f.img, 2);
	image_end(&f.img);
	image_begin(&f.img, "main", 2, "x,c", 4);
	image_call(&f.img, 2, close, 2, arg_func(inner), arg_reg(1));
	image_call(&f.img, 3, invoke, 3, VM_REG, arg_reg(2), arg_reg(0));
	image_ret(&f.img, 3);
	image_end(&f.img);
	cr_assert_eq(vm_tree_open(&f.tree, &f.img, &f.d), MSD_OK);
	cr_assert_eq(vm_tree_call(&f.tree, "main", args, 2, &f.ret, &f.d), MSD_OK, "%s",
		     msd_diag_text(&f.d));
	struct msd_array *t = (struct msd_array *)f.ret.as.obj;
	cr_assert_eq(t->items[0].as.i, 1);
	cr_assert_eq(t->items[1].as.i, 2);
	fixture_finish(&f);
}

/* again(f): invoke_closure(f, f): recursion through C. */
Test(relax_vm, endless_closures_do_not_overflow_the_c_stack)
{
	struct fixture f = {0};

	int64_t invoke = image_packed(&f.img, "vm.builtin.invoke_closure");
	int64_t again = image_begin(&f.img, "again", 0, "", 1);
	image_call(&f.img, 0, invoke, 2, VM_REG, arg_func(again));
	image_ret(&f.img, 0);
	image_end(&f.img);
	cr_assert_eq(vm_tree_open(&f.tree, &f.img, &f.d), MSD_OK);
	cr_assert_eq(vm_tree_call(&f.tree, "again", NULL, 0, &f.ret, &f.d),
		     MSD_CALL_FAILED);
	cr_assert_not_null(strstr(msd_diag_text(&f.d), "closures nest deeper than"));
	fixture_finish(&f);
}

static enum msd_bool_style style_with(struct msd_dtype dtype, bool is_v2)
{
	struct msd_relax_const k = {.kind = MSD_RELAX_DTYPE, .as.dtype = dtype};
	struct msd_relax_func f = {.kind = MSD_RELAX_VMTIR,
				   .n_regs = 1,
				   .name = {(const uint8_t *)"f", 1}};
	const struct msd_relax_image img = {
		.is_v2 = is_v2, .funcs = &f, .n_funcs = 1, .consts = &k, .n_consts = 1};
	struct msd_relax_vm *vm = NULL;

	cr_assert_eq(msd_relax_vm_create(&img, NULL, &vm, NULL), MSD_OK);
	const enum msd_bool_style style = vm->funcs[0].rules.bool_style;
	msd_relax_vm_close(vm);
	return style;
}

Test(relax_vm, the_images_constants_say_what_a_bool_is)
{
	const struct msd_dtype bool8 = {MSD_DT_BOOL, 8, 1};
	const struct msd_dtype uint1 = {MSD_DT_UINT, 1, 1};
	const struct msd_dtype other = {MSD_DT_FLOAT, 32, 1};

	cr_expect_eq(style_with(bool8, false), MSD_BOOL_BOOL8);
	cr_expect_eq(style_with(uint1, true), MSD_BOOL_UINT1);
	cr_expect_eq(style_with(other, false), MSD_BOOL_UINT1);
	cr_expect_eq(style_with(other, true), MSD_BOOL_BOOL8);
}
