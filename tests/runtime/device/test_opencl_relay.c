/* A relay VM executable over a library with OpenCL kernels: the container is written
 * here for each layout, the kernel and the values are TVM's. */
#include <criterion/criterion.h>
#include <string.h>

#include "runtime/kind/kinds.h"
#include "runtime/load/state.h"
#include "runtime/value/error.h"
#include "tests/runtime/device/device_support.h"
#include "tests/runtime/device/opencl_place.h"
#include "tests/runtime/graph/relay_writer.h"

#define LIBRARY "tvm-0.8/opencl_pair/opencl_pair.so"

static const char *const param[] = {"a", NULL};
static const char *const packed[] = {"matmul", NULL};

/* How the file calls the two devices. */
static int opencl_of(int minor)
{
	return minor == 8 ? MSD_DEV_OPENCL : 0;
}

static int host_of(int minor)
{
	return minor == 8 ? MSD_DEV_CPU : 1;
}

static void load_const(struct relay_code *c, int minor, int index, int device, int reg)
{
	if (minor >= 14) {
		INS(c, LOAD_CONST, index, device, reg);
	} else {
		INS(c, LOAD_CONST, index, reg);
	}
}

static void alloc_storage(struct relay_code *c, int minor, int size, int reg)
{
	if (minor >= 14) {
		INS(c, ALLOC_STORAGE, size, 64, 2, 32, 1, opencl_of(minor), 0, reg);
	} else {
		INS(c, ALLOC_STORAGE, size, 64, 2, 32, 1, opencl_of(minor), reg);
	}
}

/* main(a, on the host) = (c, c on the host) with c = matmul(a, b), b a constant; a
 * condition on the device and a reshape there stand between. */
static struct bw program(int minor, const struct msd_tensor *b_value)
{
	const int there = opencl_of(minor);
	const int here = host_of(minor);
	struct relay_code c = {0};
	struct bw b = {0};

	relay_begin_on(&b, minor, (const int[]){MSD_DEV_OPENCL, MSD_DEV_CPU}, 2, 4);
	relay_const_i64(&b, minor, 64 * 64 * 4);
	relay_const_i64(&b, minor, 0);
	relay_const_f32(&b, minor, b_value->dl.shape, b_value->dl.data);
	relay_const_i64(&b, minor, 7);
	relay_middle_on(&b, 4, (const int[]){here, here, there, there}, packed, 1);
	INS(&c, DEVICE_COPY, 0, here, there, 1);
	load_const(&c, minor, 0, here, 2);
	alloc_storage(&c, minor, 2, 3);
	load_const(&c, minor, 1, here, 4);
	INS(&c, ALLOC_TENSOR, 3, 4, 2, 32, 1, 2, 5, 64, 64);
	load_const(&c, minor, 2, there, 6);
	load_const(&c, minor, 3, there, 7);
	INS(&c, LOAD_CONSTI, 7, 8);
	INS(&c, IF, 7, 8, 2, 1);
	relay_ins(&c, FATAL, 0, NULL);
	INS(&c, INVOKE_PACKED, 0, 3, 1, 1, 6, 5);
	INS(&c, SHAPE_OF, 5, 9);
	INS(&c, RESHAPE, 5, 9, 10);
	INS(&c, DEVICE_COPY, 10, there, here, 11);
	INS(&c, ALLOC_ADT, 0, 2, 12, 10, 11);
	INS(&c, RET, 12);
	relay_func_on(&b, "main", 13, param, here, &c);
	return b;
}

struct vm {
	struct opencl_place place;
	struct msd_node node;
	struct msd_node *imports[1];
	struct bw payload;
	struct msd_diag d;
};

static bool vm_open(struct vm *v, int minor, struct msd_device device)
{
	struct msd_node_context ctx = {.era = MSD_ERA_CLASSIC};

	*v = (struct vm){0};
	if (!opencl_place_open(&v->place, LIBRARY))
		return false;
	struct msd_tensor *b = opencl_array(&v->place, "matmul_b");
	struct bw image = program(minor, b);
	msd_obj_unref(&b->obj);
	v->payload = relay_payload(&image);
	v->imports[0] = msd_loaded_root(v->place.lib.loaded);
	v->node = (struct msd_node){.ops = &msd_kind_relay_vm,
				    .kind_name = "VMExecutable",
				    .imports = v->imports,
				    .n_imports = 1};
	ctx.payload = bw_span(&v->payload);
	cr_assert_eq(v->node.ops->open(&v->node, &ctx, &v->d), MSD_OK, "%s",
		     msd_diag_text(&v->d));
	cr_assert_eq(v->node.ops->start(&v->node, &v->d), MSD_OK);
	cr_assert_eq(v->node.ops->place(&v->node, device, &v->d), MSD_OK);
	return true;
}

static void vm_close(struct vm *v)
{
	v->node.ops->close(&v->node);
	opencl_place_close(&v->place);
	bw_free(&v->payload);
	msd_diag_finish(&v->d);
}

static int vm_call(struct vm *v, struct msd_any *arg, struct msd_any *ret)
{
	struct msd_function *fn = v->node.ops->find(&v->node, "main");

	*ret = msd_none();
	return fn->call(fn, arg, 1, ret);
}

static void expect_products(int minor)
{
	const struct msd_device opencl = {MSD_DEV_OPENCL, 0};
	struct vm v;
	struct msd_any ret;
	struct msd_any first;

	if (!vm_open(&v, minor, opencl))
		return;
	struct msd_tensor *a = opencl_array(&v.place, "matmul_a");
	struct msd_tensor *want = opencl_array(&v.place, "matmul_c");
	struct msd_any args[] = {
		msd_of_obj(&a->obj),
		/* What belongs on the host comes there first. */
		to_device(v.place.dev, opencl_array(&v.place, "matmul_a")),
	};
	for (int i = 0; i < 2; i++) {
		if (vm_call(&v, &args[i], &ret) != 0) {
			(void)msd_abi_fetch_error(&v.d);
			cr_assert(false, "%s", msd_diag_text(&v.d));
		}
		const struct msd_array *both = ret.as.p;
		cr_assert_eq(both->size, 2);
		cr_assert(msd_any_copy(&both->items[0], &first));
		cr_expect_eq(msd_any_dltensor(&first)->device.type, MSD_DEV_OPENCL);
		msd_obj_ref(&want->obj);
		expect_on_device(v.place.dev, first, want);
		const struct msd_dltensor *here = msd_any_dltensor(&both->items[1]);
		cr_assert_eq(here->device.type, MSD_DEV_CPU);
		cr_expect_eq(memcmp(here->data, want->dl.data,
				    msd_dltensor_bytes(&want->dl)),
			     0);
		msd_any_drop(&ret);
		msd_any_drop(&args[i]);
	}
	msd_obj_unref(&want->obj);
	vm_close(&v);
}

Test(opencl_relay, code_of_08_runs_on_the_device)
{
	expect_products(8);
}

Test(opencl_relay, code_of_09_runs_on_the_device)
{
	expect_products(9);
}

Test(opencl_relay, code_of_014_runs_on_the_device)
{
	expect_products(14);
}

Test(opencl_relay, placed_elsewhere_it_says_where_it_would_run)
{
	struct msd_any arg = msd_int(0);
	struct msd_any ret;
	struct vm v;

	if (!vm_open(&v, 14, (struct msd_device){MSD_DEV_CPU, 0}))
		return;
	cr_assert_neq(vm_call(&v, &arg, &ret), 0);
	cr_expect_eq(msd_abi_fetch_error(&v.d), MSD_UNSUPPORTED);
	cr_expect_str_eq(msd_diag_text(&v.d),
			 "module 0 (VMExecutable) cannot run here: its tensors are on "
			 "opencl, but the module is on cpu:0");
	vm_close(&v);
}
