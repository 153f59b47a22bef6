#include "tests/runtime/relax/vm_tree.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/kind/kinds.h"
#include "runtime/value/error.h"

static struct msd_function *lib_find(struct msd_node *node, const char *name)
{
	struct vm_tree *t = node->state;

	for (size_t i = 0; i < t->n_funcs; i++) {
		if (strcmp(t->funcs[i].name, name) == 0)
			return &t->funcs[i];
	}
	return NULL;
}

static const struct msd_node_ops lib_ops = {.find = lib_find};

void vm_tree_add(struct vm_tree *t, const char *name, msd_safe_call call)
{
	msd_function_init(&t->funcs[t->n_funcs++], name, call);
}

msd_err vm_tree_open_bytes(struct vm_tree *t, struct msd_diag *d)
{
	struct msd_node_context ctx = {.era = MSD_ERA_FFI};
	msd_err err;

	ctx.payload = (struct msd_span){t->image.p, t->image.n};
	t->lib = (struct msd_node){.ops = &lib_ops, .index = 1, .state = t};
	t->imports[0] = &t->lib;
	t->vm = (struct msd_node){.ops = &msd_kind_relax_vm,
				  .kind_name = "relax.VMExecutable",
				  .imports = t->imports,
				  .n_imports = 1};
	err = t->vm.ops->open(&t->vm, &ctx, d);
	return err == MSD_OK ? t->vm.ops->start(&t->vm, d) : err;
}

msd_err vm_tree_open(struct vm_tree *t, struct image *img, struct msd_diag *d)
{
	t->image = image_finish(img);
	return vm_tree_open_bytes(t, d);
}

void vm_tree_close(struct vm_tree *t)
{
	if (t->vm.ops != NULL)
		t->vm.ops->close(&t->vm);
	free(t->vm.refusal); /* as the load's owner does */
	msd_buf_finish(&t->image);
}

msd_err vm_tree_call(struct vm_tree *t, const char *name, const struct msd_any *args,
		     int32_t n, struct msd_any *ret, struct msd_diag *d)
{
	struct msd_function *fn = t->vm.ops->find(&t->vm, name);

	*ret = msd_none();
	if (fn == NULL)
		return msd_diag_set(d, MSD_NOT_FOUND, "no function %s", name);
	return fn->call(fn, args, n, ret) == 0 ? MSD_OK : msd_abi_fetch_error(d);
}

struct msd_any f32_tensor(const float *data, int64_t n)
{
	struct msd_tensor *t =
		msd_tensor_new((struct msd_dtype){MSD_DT_FLOAT, 32, 1}, &n, 1);

	memcpy(t->dl.data, data, (size_t)n * sizeof(*data));
	return msd_of_obj(&t->obj);
}

float f32_at(const struct msd_any *v, int64_t i)
{
	return ((const float *)msd_any_dltensor(v)->data)[i];
}

struct msd_any shape_value(const int64_t *dim, size_t n)
{
	return msd_of_obj(&msd_shape_new(dim, n)->obj);
}

/* out[i] = a[i] + 1, as compiled code is called. */
static int lib_addone(void *self, const struct msd_any *args, int32_t n,
		      struct msd_any *ret)
{
	const struct msd_dltensor *a = msd_any_dltensor(&args[0]);
	const struct msd_dltensor *b = msd_any_dltensor(&args[1]);
	(void)self;
	(void)ret;

	if (n != 2)
		return msd_abi_raise("TypeError", "Expected 2 arguments");
	for (int64_t i = 0; i < a->shape[0]; i++)
		((float *)b->data)[i] = ((float *)a->data)[i] + 1;
	return 0;
}

/* main(x: float32[n]): allocate an output of x's shape, call addone(x, out), return
 * out. */
void addone_write(struct vm_tree *t, struct image *img)
{
	const struct msd_dtype float32 = {MSD_DT_FLOAT, 32, 1};
	int64_t heap = image_packed(img, "vm.builtin.alloc_shape_heap");
	int64_t check = image_packed(img, "vm.builtin.check_tensor_info");
	int64_t match = image_packed(img, "vm.builtin.match_shape");
	int64_t storage = image_packed(img, "vm.builtin.alloc_storage");
	int64_t tensor = image_packed(img, "vm.builtin.alloc_tensor");
	int64_t make = image_packed(img, "vm.builtin.make_shape");
	int64_t addone = image_packed(img, "addone");
	int64_t f32 = image_const_dtype(img, float32);
	int64_t ctx =
		image_const_str(img, "ErrorContext(fn=main, loc=param[0], param=x, "
				     "annotation=R.Tensor((n,), dtype=\"float32\")) ");

	vm_tree_add(t, "addone", lib_addone);
	image_begin(img, "main", 1, "x", 6);
	image_call(img, 1, heap, 2, VM_REG, arg_imm(1));
	image_call(img, VOID_REG, check, 4, arg_reg(0), arg_imm(1), arg_const(f32),
		   arg_const(ctx));
	image_call(img, VOID_REG, match, 6, arg_reg(0), arg_reg(1), arg_imm(1),
		   arg_imm(1), arg_imm(0), arg_const(ctx));
	image_call(img, 2, make, 4, arg_reg(1), arg_imm(1), arg_imm(1), arg_imm(0));
	image_call(img, 3, storage, 4, VM_REG, arg_reg(2), arg_imm(0), arg_const(f32));
	image_call(img, 4, tensor, 4, arg_reg(3), arg_imm(0), arg_reg(2),
		   arg_const(f32));
	image_call(img, VOID_REG, addone, 2, arg_reg(0), arg_reg(4));
	image_ret(img, 4);
	image_end(img);
}
