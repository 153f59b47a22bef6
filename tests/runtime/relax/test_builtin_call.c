/* Packed functions that call or allocate; all of them with arbitrary arguments. */
#include <criterion/criterion.h>
#include <stdio.h>

#include "runtime/packed/vm_memory.h"
#include "runtime/value/error.h"
#include "runtime/value/storage_pool.h"
#include "tests/runtime/relax/builtin_support.h"
#include "tests/runtime/relax/vm_tree.h"

/* Returns how many arguments it got, and checks that they count up from 0. */
static int counting(void *self, const struct msd_any *args, int32_t n,
		    struct msd_any *ret)
{
	(void)self;
	for (int32_t i = 0; i < n; i++) {
		if (args[i].as.i != i)
			return msd_abi_raise("ValueError", "argument %d", (int)i);
	}
	*ret = msd_int(n);
	return 0;
}

static struct msd_function counter;

static struct msd_any counter_value(void)
{
	msd_function_init(&counter, "counter", counting);
	return (struct msd_any){.type = MSD_T_FUNCTION, .as.obj = &counter.obj};
}

Test(builtin_call, call_tir_dyn_spreads_the_shape)
{
	struct call c = {0};

	push(&c, counter_value());
	PUSH_INTS(&c, 0);
	push(&c, shape_value((const int64_t[]){1, 2}, 2));
	expect_ok(&c, "vm.builtin.call_tir_dyn");
	cr_assert_eq(c.ret.as.i, 3);
	finish(&c);
	push(&c, counter_value());
	PUSH_INTS(&c, 1);
	push(&c, shape_value((const int64_t[]){1}, 1));
	expect_error(&c, "vm.builtin.call_tir_dyn", "counter: ValueError: argument 0");
}

Test(builtin_call, a_closure_of_many_values_appends_them)
{
	struct call c = {0};

	push(&c, counter_value());
	for (int64_t i = 2; i < 20; i++)
		PUSH_INTS(&c, i);
	expect_ok(&c, "vm.builtin.make_closure");
	struct msd_any closure = c.ret;
	c.ret = msd_none();
	finish(&c);
	push(&c, (struct msd_any){.type = MSD_T_POINTER, .as.p = &c});
	push(&c, closure);
	PUSH_INTS(&c, 0, 1);
	expect_ok(&c, "vm.builtin.invoke_closure");
	cr_assert_eq(c.ret.as.i, 20);
	finish(&c);
}

static struct msd_any vm_value(void);

Test(builtin_call, cuda_graphs_of_the_host_run_directly)
{
	struct call c = {0};
	struct msd_array *t = msd_array_new(2);

	t->items[0] = msd_int(0);
	t->items[1] = msd_int(1);
	push(&c, vm_value());
	push(&c, counter_value());
	push(&c, msd_of_obj(&t->obj));
	PUSH_INTS(&c, 0);
	expect_ok(&c, "vm.builtin.cuda_graph.run_or_capture");
	cr_assert_eq(c.ret.as.i, 2);
	finish(&c);
	push(&c, vm_value());
	push(&c, counter_value());
	PUSH_INTS(&c, 0);
	expect_ok(&c, "vm.builtin.cuda_graph.get_cached_alloc");
	cr_assert_eq(c.ret.as.i, 0);
	finish(&c);
}

/* Memory: what the functions take from a VM. */
static struct msd_vm_memory memory_vm;

static struct msd_any vm_value(void)
{
	if (memory_vm.pool == NULL)
		memory_vm.pool = msd_storage_pool_create();
	return (struct msd_any){.type = MSD_T_POINTER, .as.p = &memory_vm};
}

/* alloc_storage(vm, [bytes], 0, uint8, scope) */
static void push_storage(struct call *c, int64_t bytes, const char *scope)
{
	push(c, vm_value());
	push(c, shape_value(&bytes, 1));
	push(c, msd_int(0));
	push(c, dtype_value((struct msd_dtype){MSD_DT_UINT, 8, 1}));
	push(c, text(scope));
}

Test(builtin_memory, a_tensor_is_a_view_of_its_storage)
{
	struct call c = {0};

	push_storage(&c, 256, "global");
	expect_ok(&c, "vm.builtin.alloc_storage");
	struct msd_any storage = c.ret;
	char *base = ((struct msd_storage *)storage.as.p)->data;
	cr_assert_eq((uintptr_t)base % 128, 0);
	c.ret = msd_none();
	finish(&c);
	push(&c, storage);
	PUSH_INTS(&c, 128);
	push(&c, shape_value((const int64_t[]){4, 8}, 2));
	push(&c, dtype_value(float32));
	expect_ok(&c, "vm.builtin.alloc_tensor");
	cr_assert_eq((char *)msd_any_dltensor(&c.ret)->data, base + 128);
	cr_assert_eq(msd_any_dltensor(&c.ret)->byte_offset, 0);
	finish(&c);
	msd_storage_pool_close(memory_vm.pool);
}

Test(builtin_memory, a_tensor_must_fit_in_its_storage)
{
	struct call c = {0};

	push_storage(&c, 100, "global");
	expect_ok(&c, "vm.builtin.alloc_storage");
	struct msd_any storage = c.ret;
	c.ret = msd_none();
	finish(&c);
	push(&c, storage);
	PUSH_INTS(&c, 4);
	push(&c, shape_value((const int64_t[]){25}, 1));
	push(&c, dtype_value(float32));
	expect_error(&c, "vm.builtin.alloc_tensor",
		     "ValueError: a tensor of 100 bytes at offset 4 does not fit in a "
		     "storage of 100 bytes");
	msd_storage_pool_close(memory_vm.pool);
}

Test(builtin_memory, impossible_storages_are_refused)
{
	struct call c = {0};

	push_storage(&c, -1, "global");
	expect_error(&c, "vm.builtin.alloc_storage",
		     "ValueError: the storage's size is not valid");
	push_storage(&c, INT64_MAX / 2, "global");
	expect_error(&c, "vm.builtin.alloc_storage",
		     "cannot allocate 4611686018427387903 bytes");
	push_storage(&c, 8, "global.texture");
	expect_error(&c, "vm.builtin.alloc_storage",
		     "no memory of scope \"global.texture\" here");
	msd_storage_pool_close(memory_vm.pool);
}

Test(builtin_memory, the_shape_heap_is_int64)
{
	struct call c = {0};

	push(&c, vm_value());
	PUSH_INTS(&c, 3);
	expect_ok(&c, "vm.builtin.alloc_shape_heap");
	cr_assert(msd_dtype_eq(msd_any_dltensor(&c.ret)->dtype, int64));
	cr_assert_eq(msd_any_dltensor(&c.ret)->shape[0], 3);
	finish(&c);
	push(&c, vm_value());
	PUSH_INTS(&c, -1);
	expect_error(&c, "vm.builtin.alloc_shape_heap",
		     "ValueError: a shape heap of -1 cells");
	msd_storage_pool_close(memory_vm.pool);
}

static const char *const builtins[] = {
	"check_tensor_info",
	"check_shape_info",
	"check_tuple_info",
	"check_prim_value_info",
	"check_func_info",
	"check_string_info",
	"match_shape",
	"match_prim_value",
	"make_shape",
	"make_prim_value",
	"alloc_shape_heap",
	"alloc_storage",
	"alloc_tensor",
	"null_value",
	"memory_manager.clear",
	"reshape",
	"shape_of",
	"copy",
	"tensor_to_shape",
	"read_if_cond",
	"to_device",
	"ensure_zero_offset",
	"make_tuple",
	"tuple_getitem",
	"tuple_reset_item",
	"make_closure",
	"invoke_closure",
	"call_tir_dyn",
	"cuda_graph.run_or_capture",
	"cuda_graph.get_cached_alloc",
};

/* Arguments drawn from the @n_pool of @pool by @seed: a value, or an error with a text.
 */
static void expect_value_or_error(const char *builtin, struct msd_any *pool,
				  size_t n_pool, uint32_t seed)
{
	struct call c = {.n = (int32_t)(seed % 7)};
	uint32_t r = seed * 2654435761u;
	char name[64];

	(void)snprintf(name, sizeof(name), "vm.builtin.%s", builtin);
	for (int32_t i = 0; i < c.n; i++, r = r / 7 + seed)
		cr_assert(msd_any_copy(&pool[r % n_pool], &c.args[i]));
	if (!run_call(&c, name))
		cr_assert_gt(c.d.len, 0, "%s, seed %u", name, seed);
	finish(&c);
}

Test(builtin, no_function_trusts_number_or_kind_of_its_arguments)
{
	struct msd_any pool[] = {msd_none(),
				 msd_int(-3),
				 msd_float(1),
				 x34(),
				 text("t"),
				 shape_value(NULL, 0),
				 msd_of_obj(&msd_array_new(1)->obj)};
	const size_t n_pool = sizeof(pool) / sizeof(pool[0]);

	for (size_t f = 0; f < sizeof(builtins) / sizeof(builtins[0]); f++) {
		for (uint32_t seed = 0; seed < 300; seed++)
			expect_value_or_error(builtins[f], pool, n_pool, seed);
	}
	for (size_t i = 0; i < n_pool; i++)
		msd_any_drop(&pool[i]);
}
