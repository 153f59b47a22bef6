#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/kind/kinds.h"
#include "runtime/value/error.h"
#include "runtime/value/value.h"
#include "tests/runtime/graph/relay_programs.h"

static const char *const one_param[] = {"x", NULL};
static const char *const addone_name[] = {"addone", NULL};

/* out = in + 1 over float32; how often it was called. */
static int n_calls;
static int addone(void *self, const struct msd_any *args, int32_t n,
		  struct msd_any *ret)
{
	const struct msd_dltensor *in = msd_any_dltensor(&args[0]);
	const struct msd_dltensor *out = msd_any_dltensor(&args[n - 1]);
	(void)self;
	(void)ret;

	n_calls++;
	for (size_t i = 0; i < msd_dltensor_bytes(in) / 4; i++)
		((float *)out->data)[i] = ((const float *)in->data)[i] + 1;
	return n == 2 ? 0 : msd_abi_raise("TypeError", "%d arguments", (int)n);
}

static struct msd_function lib_addone;

static struct msd_function *lib_find(struct msd_node *node, const char *name)
{
	(void)node;
	return strcmp(name, "addone") == 0 ? &lib_addone : NULL;
}

static const struct msd_node_ops lib_ops = {.find = lib_find};

struct fixture {
	struct msd_node vm;
	struct msd_node lib;
	struct msd_node *imports[1];
	struct bw payload;
	struct msd_diag d;
};

static msd_err vm_open(struct fixture *f, struct bw *image)
{
	struct msd_node_context ctx = {.era = MSD_ERA_CLASSIC};

	msd_function_init(&lib_addone, "addone", addone);
	n_calls = 0;
	*f = (struct fixture){.payload = relay_payload(image)};
	ctx.payload = bw_span(&f->payload);
	f->lib = (struct msd_node){.ops = &lib_ops, .index = 1};
	f->imports[0] = &f->lib;
	f->vm = (struct msd_node){.ops = &msd_kind_relay_vm,
				  .kind_name = "VMExecutable",
				  .imports = f->imports,
				  .n_imports = 1};
	msd_err err = f->vm.ops->open(&f->vm, &ctx, &f->d);
	return err == MSD_OK ? f->vm.ops->start(&f->vm, &f->d) : err;
}

static void vm_close(struct fixture *f)
{
	f->vm.ops->close(&f->vm);
	bw_free(&f->payload);
	msd_diag_finish(&f->d);
}

static msd_err vm_call(struct fixture *f, struct msd_any *args, int32_t n,
		       struct msd_any *ret)
{
	struct msd_function *fn = f->vm.ops->find(&f->vm, "main");

	*ret = msd_none();
	return fn->call(fn, args, n, ret) == 0 ? MSD_OK : msd_abi_fetch_error(&f->d);
}

static struct msd_any tensor(struct msd_dtype dtype, const int64_t *shape, size_t ndim,
			     const void *data)
{
	struct msd_tensor *t = msd_tensor_new(dtype, shape, ndim);

	memcpy(t->dl.data, data, msd_dltensor_bytes(&t->dl));
	return msd_of_obj(&t->obj);
}

static struct msd_any floats(float a, float b)
{
	return tensor((struct msd_dtype){MSD_DT_FLOAT, 32, 1}, (const int64_t[]){2}, 1,
		      (const float[]){a, b});
}

static struct msd_any scalar(int64_t v)
{
	return tensor((struct msd_dtype){MSD_DT_INT, 64, 1}, NULL, 0, &v);
}

static float at(const struct msd_any *v, int i)
{
	return ((const float *)msd_any_dltensor(v)->data)[i];
}

static void expect_addone(int minor)
{
	struct bw image = relay_addone(minor);
	struct fixture f;
	struct msd_any x = floats(1, 2);
	struct msd_any ret;

	cr_assert_eq(vm_open(&f, &image), MSD_OK, "%s", msd_diag_text(&f.d));
	cr_assert_eq(vm_call(&f, &x, 1, &ret), MSD_OK, "%s", msd_diag_text(&f.d));
	vm_close(&f);
	cr_assert_eq(at(&ret, 1), 3, "the result outlives the VM");
	msd_any_drop(&ret);
	msd_any_drop(&x);
}

Test(relay_vm, runs_code_of_08)
{
	expect_addone(8);
}

Test(relay_vm, runs_code_of_09)
{
	expect_addone(9);
}

Test(relay_vm, runs_code_of_014)
{
	expect_addone(14);
}

static void open_code(struct fixture *f, struct relay_code *c, unsigned n_regs)
{
	struct bw image = relay_program(c, n_regs);

	cr_assert_eq(vm_open(f, &image), MSD_OK, "%s", msd_diag_text(&f->d));
}

Test(relay_vm, functions_call_themselves)
{
	struct relay_code c = {0};
	struct bw b = {0};
	struct fixture f;
	struct msd_any x = scalar(7);
	struct msd_any ret;

	relay_begin(&b, 8, 1);
	relay_const_i64(&b, 8, 0);
	relay_middle(&b, 1, addone_name, 2);
	INS(&c, LOAD_CONST, 0, 1);
	INS(&c, INVOKE, 1, 2, 2, 0, 1);
	INS(&c, RET, 2);
	relay_func(&b, "main", 3, one_param, &c);
	INS(&c, IF, 0, 1, 1, 2); /* x == end? */
	INS(&c, RET, 1);
	INS(&c, INVOKE, 1, 2, 2, 1, 1); /* down(end, end) */
	INS(&c, RET, 2);
	relay_func(&b, "down", 3, (const char *const[]){"x", "end", NULL}, &c);
	cr_assert_eq(vm_open(&f, &b), MSD_OK, "%s", msd_diag_text(&f.d));
	cr_assert_eq(vm_call(&f, &x, 1, &ret), MSD_OK, "%s", msd_diag_text(&f.d));
	cr_assert_eq(*(int64_t *)msd_any_dltensor(&ret)->data, 0);
	msd_any_drop(&ret);
	msd_any_drop(&x);
	vm_close(&f);
}

Test(relay_vm, endless_recursion_is_an_error)
{
	struct relay_code c = {0};
	struct fixture f;
	struct msd_any x = floats(0, 0);
	struct msd_any ret;

	INS(&c, INVOKE, 0, 1, 1, 0);
	INS(&c, RET, 1);
	open_code(&f, &c, 2);
	cr_assert_eq(vm_call(&f, &x, 1, &ret), MSD_CALL_FAILED);
	cr_assert_not_null(strstr(msd_diag_text(&f.d), "calls deep"));
	cr_assert_lt(f.d.len, 300);
	msd_any_drop(&x);
	vm_close(&f);
}

Test(relay_vm, tuples_go_in_and_out)
{
	struct relay_code c = {0};
	struct fixture f;
	struct msd_array *in = msd_array_new(2);
	struct msd_any x = msd_of_obj(&in->obj);
	struct msd_any ret;

	in->items[0] = floats(1, 2);
	in->items[1] = floats(3, 4);
	INS(&c, GET_FIELD, 0, 0, 1);
	INS(&c, GET_FIELD, 0, 1, 2);
	INS(&c, ALLOC_ADT, 0, 3, 3, 2, 1, 0);
	INS(&c, MOVE, 3, 1);
	INS(&c, RET, 1);
	open_code(&f, &c, 4);
	cr_assert_eq(vm_call(&f, &x, 1, &ret), MSD_OK, "%s", msd_diag_text(&f.d));
	const struct msd_array *out = ret.as.p;
	cr_assert_eq(out->size, 3);
	cr_assert_eq(at(&out->items[0], 0), 3);
	cr_assert_eq(((const struct msd_array *)out->items[2].as.p)->size, 2);
	msd_any_drop(&ret);
	msd_any_drop(&x);
	vm_close(&f);
}

Test(relay_vm, constructors_keep_their_tag)
{
	struct relay_code c = {0};
	struct fixture f;
	struct msd_any x = floats(1, 2);
	struct msd_any ret;

	INS(&c, ALLOC_ADT, 77, 1, 1, 0);
	INS(&c, GET_TAG, 1, 2);
	INS(&c, LOAD_CONSTI, 77, 3);
	INS(&c, IF, 2, 3, 1, 2);
	INS(&c, RET, 1);
	relay_ins(&c, FATAL, 0, NULL);
	open_code(&f, &c, 4);
	cr_assert_eq(vm_call(&f, &x, 1, &ret), MSD_OK, "%s", msd_diag_text(&f.d));
	const struct msd_array *out = ret.as.p;
	cr_assert(out->size == 2 && out->items[0].as.i == 77);
	msd_any_drop(&ret);
	msd_any_drop(&x);
	vm_close(&f);
}

Test(relay_vm, closures_put_free_variables_first)
{
	struct relay_code c = {0};
	struct bw b = {0};
	struct fixture f;
	struct msd_any args[] = {floats(1, 1), floats(2, 2)};
	struct msd_any ret;

	relay_begin(&b, 8, 0);
	relay_middle(&b, 0, addone_name, 2);
	INS(&c, ALLOC_CLOSURE, 1, 1, 2, 0);
	INS(&c, INVOKE_CLOSURE, 2, 1, 3, 1);
	INS(&c, RET, 3);
	relay_func(&b, "main", 4, (const char *const[]){"x", "y", NULL}, &c);
	INS(&c, ALLOC_ADT, 0, 2, 2, 0, 1);
	INS(&c, RET, 2);
	relay_func(&b, "lifted", 3, (const char *const[]){"free", "arg", NULL}, &c);
	cr_assert_eq(vm_open(&f, &b), MSD_OK, "%s", msd_diag_text(&f.d));
	cr_assert_eq(vm_call(&f, args, 2, &ret), MSD_OK, "%s", msd_diag_text(&f.d));
	const struct msd_array *out = ret.as.p;
	cr_assert(at(&out->items[0], 0) == 1 && at(&out->items[1], 0) == 2);
	msd_any_drop(&ret);
	msd_any_drop(&args[0]);
	msd_any_drop(&args[1]);
	vm_close(&f);
}

Test(relay_vm, shapes_are_read_and_given)
{
	struct relay_code c = {0};
	struct fixture f;
	struct msd_any args[] = {tensor((struct msd_dtype){MSD_DT_FLOAT, 32, 1},
					(const int64_t[]){2, 1}, 2,
					(const float[]){5, 6})};
	struct msd_any ret;

	INS(&c, SHAPE_OF, 0, 1);    /* [2, 1] */
	INS(&c, SHAPE_OF, 1, 2);    /* [2] */
	INS(&c, RESHAPE, 0, 2, 3);  /* x as [2] */
	INS(&c, LOAD_CONSTI, 8, 4); /* bytes */
	INS(&c, ALLOC_STORAGE, 4, 64, 2, 32, 1, 0, 5);
	INS(&c, LOAD_CONST, 0, 4); /* offset 0 */
	INS(&c, ALLOC_TENSOR_REG, 5, 4, 2, 2, 32, 1, 6);
	INS(&c, INVOKE_PACKED, 0, 2, 1, 3, 6);
	INS(&c, DEVICE_COPY, 6, 0, 0, 7);
	INS(&c, GOTO, 1);
	INS(&c, RET, 7);
	open_code(&f, &c, 8);
	cr_assert_eq(vm_call(&f, args, 1, &ret), MSD_OK, "%s", msd_diag_text(&f.d));
	cr_assert_eq(msd_any_dltensor(&ret)->ndim, 1);
	cr_assert(at(&ret, 0) == 6 && at(&ret, 1) == 7);
	msd_any_drop(&ret);
	msd_any_drop(&args[0]);
	vm_close(&f);
}

Test(relay_vm, tuples_are_spread_for_compiled_functions)
{
	struct relay_code c = {0};
	struct fixture f;
	struct msd_any x = floats(1, 2);
	struct msd_any ret;

	INS(&c, DEVICE_COPY, 0, 0, 0, 1);
	INS(&c, ALLOC_ADT, 0, 2, 2, 0, 1);
	INS(&c, INVOKE_PACKED, 0, 1, 1, 2);
	INS(&c, RET, 1);
	open_code(&f, &c, 3);
	cr_assert_eq(vm_call(&f, &x, 1, &ret), MSD_OK, "%s", msd_diag_text(&f.d));
	cr_assert_eq(at(&ret, 0), 2);
	msd_any_drop(&ret);
	msd_any_drop(&x);
	vm_close(&f);
}

Test(relay_vm, an_empty_output_needs_no_call)
{
	struct relay_code c = {0};
	struct fixture f;
	struct msd_any x = tensor((struct msd_dtype){MSD_DT_FLOAT, 32, 1},
				  (const int64_t[]){0}, 1, "");
	struct msd_any ret;

	INS(&c, INVOKE_PACKED, 0, 2, 1, 0, 0);
	INS(&c, RET, 0);
	open_code(&f, &c, 1);
	cr_assert_eq(vm_call(&f, &x, 1, &ret), MSD_OK);
	cr_assert_eq(n_calls, 0);
	msd_any_drop(&ret);
	msd_any_drop(&x);
	vm_close(&f);
}

Test(relay_vm, what_does_not_fit_is_an_error_with_its_place)
{
	struct relay_code c = {0};
	struct fixture f;
	struct msd_any x = floats(1, 2);
	struct msd_any ret;

	INS(&c, GET_FIELD, 0, 0, 1);
	INS(&c, RET, 1);
	open_code(&f, &c, 2);
	cr_assert_eq(vm_call(&f, &x, 1, &ret), MSD_CALL_FAILED);
	cr_assert_str_eq(msd_diag_text(&f.d),
			 "pc 0: TypeError: there is no field 0 in tensor");
	struct msd_any number = msd_int(3);
	cr_assert_eq(vm_call(&f, &number, 1, &ret), MSD_BAD_ARGUMENT);
	msd_any_drop(&x);
	vm_close(&f);
}

Test(relay_vm, a_tensor_beyond_its_storage_is_an_error)
{
	struct relay_code c = {0};
	struct fixture f;
	struct msd_any x = floats(1, 2);
	struct msd_any ret;

	INS(&c, LOAD_CONSTI, 4, 1);
	INS(&c, ALLOC_STORAGE, 1, 64, 2, 32, 1, 0, 2);
	INS(&c, LOAD_CONST, 0, 3);
	INS(&c, ALLOC_TENSOR, 2, 3, 2, 32, 1, 1, 4, 2);
	INS(&c, RET, 4);
	open_code(&f, &c, 5);
	cr_assert_eq(vm_call(&f, &x, 1, &ret), MSD_CALL_FAILED);
	cr_assert_not_null(
		strstr(msd_diag_text(&f.d), "does not fit in a storage of 4"));
	msd_any_drop(&x);
	vm_close(&f);
}
