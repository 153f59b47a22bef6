#include "tests/runtime/relax/image_writer.h"

#include <stdarg.h>
#include <string.h>

int64_t arg_reg(int64_t reg)
{
	return reg;
}

static int64_t arg_word(uint64_t kind, int64_t v)
{
	return (int64_t)(kind << 56 | ((uint64_t)v & (((uint64_t)1 << 56) - 1)));
}

int64_t arg_imm(int64_t v)
{
	return arg_word(1, v);
}

int64_t arg_const(int64_t i)
{
	return arg_word(2, i);
}

int64_t arg_func(int64_t i)
{
	return arg_word(3, i);
}

static int64_t func_put(struct image *img, uint32_t kind, const char *name,
			int64_t n_args, const char *params, int64_t n_regs)
{
	uint64_t n_params = params[0] != '\0';

	for (const char *c = params; *c != '\0'; c++)
		n_params += *c == ',';
	msd_buf_put_u32(&img->funcs, kind);
	msd_buf_put_str64(&img->funcs, name, strlen(name));
	msd_buf_put_u64(&img->funcs, kind == 1 ? img->n_instrs : 0);
	img->end_at = img->funcs.n;
	msd_buf_put_u64(&img->funcs, 0);
	msd_buf_put_u64(&img->funcs, (uint64_t)n_args);
	msd_buf_put_u64(&img->funcs, (uint64_t)n_regs);
	msd_buf_put_u64(&img->funcs, n_params);
	while (n_params-- > 0) {
		size_t n = strcspn(params, ",");

		msd_buf_put_str64(&img->funcs, params, n);
		params += n + (params[n] == ',');
	}
	return (int64_t)img->n_funcs++;
}

int64_t image_packed(struct image *img, const char *name)
{
	return func_put(img, 0, name, -2, "", 0);
}

int64_t image_vmtir(struct image *img, const char *name, int64_t n_args)
{
	return func_put(img, 2, name, n_args, "", n_args + 1);
}

int64_t image_begin(struct image *img, const char *name, int64_t n_args,
		    const char *params, int64_t n_regs)
{
	return func_put(img, 1, name, n_args, params, n_regs);
}

void image_end(struct image *img)
{
	msd_put_le64(img->funcs.p + img->end_at, img->n_instrs);
}

enum const_kind { C_TENSOR, C_DTYPE, C_SHAPE, C_STR, C_INT };

static void kind_put(struct image *img, enum const_kind kind)
{
	static const uint32_t tags[][5] = {
		[IMAGE_023] = {70, 5, 69, 65, 1},
		[IMAGE_022] = {70, 5, 69, 65, 1},
		[IMAGE_021] = {72, 5, 71, 65, 1},
		[IMAGE_CLASSIC] = {0, 1, 2, 3, 4},
	};

	msd_buf_put_u32(&img->consts, tags[img->era][kind]);
}

int64_t image_const_int(struct image *img, int64_t v)
{
	kind_put(img, C_INT);
	msd_buf_put_u64(&img->consts, (uint64_t)v);
	return (int64_t)img->n_consts++;
}

int64_t image_const_str(struct image *img, const char *text)
{
	kind_put(img, C_STR);
	msd_buf_put_str64(&img->consts, text, strlen(text));
	return (int64_t)img->n_consts++;
}

static void dtype_put(struct image *img, struct msd_dtype t)
{
	msd_buf_put_u8(&img->consts, t.code);
	msd_buf_put_u8(&img->consts, t.bits);
	msd_buf_put_u16(&img->consts, t.lanes);
}

int64_t image_const_dtype(struct image *img, struct msd_dtype t)
{
	kind_put(img, C_DTYPE);
	dtype_put(img, t);
	return (int64_t)img->n_consts++;
}

int64_t image_const_shape(struct image *img, const int64_t *dim, uint64_t n)
{
	kind_put(img, C_SHAPE);
	msd_buf_put_u64(&img->consts, n);
	for (uint64_t i = 0; i < n; i++)
		msd_buf_put_u64(&img->consts, (uint64_t)dim[i]);
	return (int64_t)img->n_consts++;
}

int64_t image_const_f32(struct image *img, const int64_t *dim, uint32_t ndim,
			const float *data, uint64_t n)
{
	kind_put(img, C_TENSOR);
	msd_buf_put_u64(&img->consts, 0xDD5E40F096B4A13Fu);
	msd_buf_put_u64(&img->consts, 0);
	msd_buf_put_u32(&img->consts, 1); /* cpu */
	msd_buf_put_u32(&img->consts, 0);
	msd_buf_put_u32(&img->consts, ndim);
	dtype_put(img, (struct msd_dtype){MSD_DT_FLOAT, 32, 1});
	for (uint32_t i = 0; i < ndim; i++)
		msd_buf_put_u64(&img->consts, (uint64_t)dim[i]);
	msd_buf_put_u64(&img->consts, n * sizeof(*data));
	msd_buf_put(&img->consts, data, n * sizeof(*data));
	return (int64_t)img->n_consts++;
}

static void word_put(struct image *img, int64_t w)
{
	msd_buf_put_u64(&img->words, (uint64_t)w);
	img->n_words++;
}

static void instr_begin(struct image *img, int64_t op)
{
	msd_buf_put_u64(&img->offsets, img->n_words);
	img->n_instrs++;
	word_put(img, op);
}

void image_call(struct image *img, int64_t dst, int64_t func, int n, ...)
{
	va_list ap;

	instr_begin(img, 1);
	word_put(img, dst);
	word_put(img, func);
	word_put(img, n);
	va_start(ap, n);
	for (int i = 0; i < n; i++)
		word_put(img, va_arg(ap, int64_t));
	va_end(ap);
}

void image_ret(struct image *img, int64_t reg)
{
	instr_begin(img, 2);
	word_put(img, reg);
}

void image_goto(struct image *img, int64_t offset)
{
	instr_begin(img, 3);
	word_put(img, offset);
}

void image_if(struct image *img, int64_t cond, int64_t false_offset)
{
	instr_begin(img, 4);
	word_put(img, cond);
	word_put(img, false_offset);
}

struct msd_buf image_finish(struct image *img)
{
	struct msd_buf out = {0};

	msd_buf_put_u64(&out, img->era == IMAGE_023 ? 0xD225DE2F4214151Eu
						    : 0xD225DE2F4214151Du);
	msd_buf_put_str64(&out, "0.14", 4);
	msd_buf_put_u64(&out, img->n_funcs);
	msd_buf_put(&out, img->funcs.p, img->funcs.n);
	if (img->era == IMAGE_023)
		msd_buf_put_u64(&out, 0); /* memory scopes */
	msd_buf_put_u64(&out, img->n_consts);
	msd_buf_put(&out, img->consts.p, img->consts.n);
	msd_buf_put_u64(&out, img->n_instrs);
	msd_buf_put(&out, img->offsets.p, img->offsets.n);
	msd_buf_put_u64(&out, img->n_words);
	msd_buf_put(&out, img->words.p, img->words.n);
	msd_buf_finish(&img->funcs);
	msd_buf_finish(&img->consts);
	msd_buf_finish(&img->words);
	msd_buf_finish(&img->offsets);
	*img = (struct image){0};
	return out;
}
