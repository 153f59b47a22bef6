/* What a VM function's own checks tell about its parameters. */
#include <criterion/criterion.h>
#include <string.h>

#include "tests/runtime/relax/vm_tree.h"

/* A function under test, with its checks' functions and constants at hand. */
struct sample {
	struct image img;
	struct vm_tree tree;
	int64_t tensor_info;
	int64_t shape_info;
	int64_t tuple_info;
	int64_t prim_info;
	int64_t match;
	int64_t copy;
	int64_t f32;
	int64_t i64;
	int64_t ctx;
	int64_t ret_ctx;
};

static void sample_begin(struct sample *s, int64_t n_args, const char *params)
{
	struct image *img = &s->img;

	s->tensor_info = image_packed(img, "vm.builtin.check_tensor_info");
	s->shape_info = image_packed(img, "vm.builtin.check_shape_info");
	s->tuple_info = image_packed(img, "vm.builtin.check_tuple_info");
	s->prim_info = image_packed(img, "vm.builtin.check_prim_value_info");
	s->match = image_packed(img, "vm.builtin.match_shape");
	s->copy = image_packed(img, "vm.builtin.copy");
	s->f32 = image_const_dtype(img, (struct msd_dtype){MSD_DT_FLOAT, 32, 1});
	s->i64 = image_const_dtype(img, (struct msd_dtype){MSD_DT_INT, 64, 1});
	s->ctx = image_const_str(img,
				 "ErrorContext(fn=main, loc=param[0], param=x, "
				 "annotation=R.Tensor((n, 4), dtype=\"float32\")) ");
	s->ret_ctx = image_const_str(img, "ErrorContext(fn=main, loc=return, "
					  "annotation=R.Shape([n])) ");
	image_begin(img, "main", n_args, params, n_args + 1);
}

static void check_tensor(struct sample *s, int64_t reg)
{
	image_call(&s->img, VOID_REG, s->tensor_info, 4, arg_reg(reg), arg_imm(2),
		   arg_const(s->f32), arg_const(s->ctx));
}

static const struct msd_func_info *listed;

static msd_err remember(void *ctx, const struct msd_func_info *info)
{
	(void)ctx;
	listed = info;
	return MSD_OK;
}

static const struct msd_func_info *sample_end(struct sample *s)
{
	struct msd_diag d = {0};

	image_ret(&s->img, 0);
	image_end(&s->img);
	cr_assert_eq(vm_tree_open(&s->tree, &s->img, &d), MSD_OK, "%s",
		     msd_diag_text(&d));
	cr_assert_eq(s->tree.vm.ops->list(&s->tree.vm, remember, NULL), MSD_OK);
	return listed;
}

Test(relax_signature, tensors_with_dtype_rank_and_fixed_extents)
{
	struct sample s = {0};

	sample_begin(&s, 1, "x");
	check_tensor(&s, 0);
	image_call(&s.img, VOID_REG, s.match, 8, arg_reg(0), VOID_REG, arg_imm(2),
		   arg_imm(1), arg_imm(0), arg_imm(0), arg_imm(4), arg_const(s.ctx));
	const struct msd_func_info *info = sample_end(&s);
	const struct msd_param *p = &info->signature->params[0];
	cr_assert_str_eq(info->name, "main");
	cr_assert_eq(info->style, MSD_FUNC_MODEL);
	cr_assert_str_eq(info->module_kind, "relax.VMExecutable");
	cr_assert_str_eq(p->name, "x");
	cr_assert_eq(p->kind, MSD_P_TENSOR);
	cr_assert_eq(p->dtype.bits, 32);
	cr_assert_eq(p->ndim, 2);
	cr_assert_eq(p->shape[0], -1);
	cr_assert_eq(p->shape[1], 4);
	vm_tree_close(&s.tree);
}

Test(relax_signature, text_has_the_annotations)
{
	struct sample s = {0};

	sample_begin(&s, 2, "x,w");
	check_tensor(&s, 0);
	image_call(&s.img, VOID_REG, s.shape_info, 3, arg_reg(2), arg_imm(1),
		   arg_const(s.ret_ctx));
	cr_assert_str_eq(sample_end(&s)->signature->text,
			 "main(x: Tensor([n, 4], float32), w) -> Shape([n])");
	vm_tree_close(&s.tree);
}

Test(relax_signature, other_kinds_of_parameters)
{
	struct sample s = {0};

	sample_begin(&s, 4, "");
	image_call(&s.img, VOID_REG, s.shape_info, 3, arg_reg(0), arg_imm(1),
		   arg_const(s.ctx));
	image_call(&s.img, VOID_REG, s.tuple_info, 3, arg_reg(1), arg_imm(1),
		   arg_const(s.ctx));
	image_call(&s.img, VOID_REG, s.prim_info, 3, arg_reg(2), arg_const(s.i64),
		   arg_const(s.ctx));
	const struct msd_signature *sig = sample_end(&s)->signature;
	cr_assert_eq(sig->n_params, 4);
	cr_assert_eq(sig->params[0].kind, MSD_P_SHAPE);
	cr_assert_eq(sig->params[1].kind, MSD_P_TUPLE);
	cr_assert_eq(sig->params[2].kind, MSD_P_INT);
	cr_assert_eq(sig->params[3].kind, MSD_P_UNKNOWN);
	cr_assert_str_eq(sig->params[3].name, "arg3");
	vm_tree_close(&s.tree);
}

Test(relax_signature, checks_behind_a_branch_are_not_the_parameters)
{
	struct sample s = {0};

	sample_begin(&s, 1, "x");
	image_if(&s.img, 0, 2);
	check_tensor(&s, 0);
	cr_assert_eq(sample_end(&s)->signature->params[0].kind, MSD_P_UNKNOWN);
	vm_tree_close(&s.tree);
}

Test(relax_signature, an_overwritten_parameter_is_not_learned_from)
{
	struct sample s = {0};

	sample_begin(&s, 1, "x");
	image_call(&s.img, 0, s.copy, 1, arg_reg(0));
	check_tensor(&s, 0);
	cr_assert_eq(sample_end(&s)->signature->params[0].kind, MSD_P_UNKNOWN);
	vm_tree_close(&s.tree);
}
