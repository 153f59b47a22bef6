/* The listing of a Relax VM image: constants, then functions with one instruction a
 * line. The image is already checked. */
#include "artifact/relax/text.h"

#include <inttypes.h>

#include "artifact/params/tensor_blob.h"
#include "artifact/printable.h"
#include "proto/type_text.h"

static void put_register(struct msd_buf *out, int64_t reg)
{
	if (reg == MSD_RELAX_VOID_REG) {
		msd_buf_printf(out, "void");
	} else if (reg == MSD_RELAX_VM_REG) {
		msd_buf_printf(out, "vm");
	} else {
		msd_buf_printf(out, "r%" PRId64, reg);
	}
}

static void put_arg(struct msd_buf *out, const struct msd_relax_image *img,
		    int64_t word)
{
	int64_t value = msd_relax_arg_value(word);

	switch (msd_relax_arg_kind(word)) {
	case MSD_RELAX_REG:
		put_register(out, value);
		break;
	case MSD_RELAX_IMM:
		msd_buf_printf(out, "%" PRId64, value);
		break;
	case MSD_RELAX_CONST:
		msd_buf_printf(out, "c%" PRId64, value);
		break;
	case MSD_RELAX_FUNC:
		msd_buf_printf(out, "&");
		msd_printable_put(out, img->funcs[value].name);
		break;
	}
}

static void put_call(struct msd_buf *out, const struct msd_relax_image *img,
		     const int64_t *word)
{
	msd_buf_printf(out, "call ");
	msd_printable_put(out, img->funcs[word[2]].name);
	msd_buf_printf(out, "(");
	for (int64_t i = 0; i < word[3]; i++) {
		msd_buf_printf(out, "%s", i > 0 ? ", " : "");
		put_arg(out, img, word[4 + i]);
	}
	msd_buf_printf(out, ") -> ");
	put_register(out, word[1]);
}

static void put_instr(struct msd_buf *out, const struct msd_relax_image *img,
		      int64_t pc)
{
	const int64_t *word = img->words + img->offsets[pc];

	msd_buf_printf(out, "%6" PRId64 " ", pc);
	switch (word[0]) {
	case MSD_RELAX_CALL:
		put_call(out, img, word);
		break;
	case MSD_RELAX_RET:
		msd_buf_printf(out, "ret ");
		put_register(out, word[1]);
		break;
	case MSD_RELAX_GOTO:
		msd_buf_printf(out, "goto %+" PRId64, word[1]);
		break;
	default:
		msd_buf_printf(out, "if ");
		put_register(out, word[1]);
		msd_buf_printf(out, " else %+" PRId64, word[2]);
		break;
	}
	msd_buf_printf(out, "\n");
}

static void put_const(struct msd_buf *out, const struct msd_relax_const *k)
{
	char dtype[MSD_DTYPE_NAME_MAX];

	switch (k->kind) {
	case MSD_RELAX_TENSOR:
		msd_buf_printf(out, "tensor %s",
			       msd_dtype_format(k->as.tensor->dtype, dtype));
		msd_shape_put(out, k->as.tensor->shape, (uint32_t)k->as.tensor->ndim,
			      ", ");
		break;
	case MSD_RELAX_SHAPE:
		msd_buf_printf(out, "shape ");
		msd_shape_put(out, k->as.shape.dim, (uint32_t)k->as.shape.n, ", ");
		break;
	case MSD_RELAX_STR:
		msd_buf_printf(out, "str \"");
		msd_printable_put(out, k->as.str);
		msd_buf_printf(out, "\"");
		break;
	case MSD_RELAX_INT:
		msd_buf_printf(out, "int %" PRId64, k->as.i);
		break;
	case MSD_RELAX_FLOAT:
		msd_buf_printf(out, "float %.17g", k->as.f);
		break;
	case MSD_RELAX_DTYPE:
		msd_buf_printf(out, "dtype %s", msd_dtype_format(k->as.dtype, dtype));
		break;
	}
}

static void put_func(struct msd_buf *out, const struct msd_relax_image *img,
		     const struct msd_relax_func *f)
{
	if (f->kind == MSD_RELAX_PACKED) {
		msd_buf_printf(out, "packed ");
		msd_printable_put(out, f->name);
		msd_buf_printf(out, "\n");
		return;
	}
	msd_buf_printf(out, "%s ",
		       f->kind == MSD_RELAX_VMTIR ? "compiled" : "function");
	msd_printable_put(out, f->name);
	msd_buf_printf(out, "(");
	for (size_t i = 0; i < f->n_params; i++) {
		msd_buf_printf(out, "%s", i > 0 ? ", " : "");
		msd_printable_put(out, f->params[i]);
	}
	msd_buf_printf(out, "): %" PRId64 " arguments, %" PRId64 " registers\n",
		       f->n_args, f->n_regs);
	if (f->kind == MSD_RELAX_VMTIR)
		return;
	for (int64_t pc = f->start; pc < f->end; pc++)
		put_instr(out, img, pc);
}

void msd_relax_text(const struct msd_relax_image *img, struct msd_buf *out)
{
	for (size_t i = 0; i < img->n_consts; i++) {
		msd_buf_printf(out, "c%zu = ", i);
		put_const(out, &img->consts[i]);
		msd_buf_printf(out, "\n");
	}
	for (size_t i = 0; i < img->n_funcs; i++)
		put_func(out, img, &img->funcs[i]);
}
