/*
 * relax_blob ERA FILE: the blob of a library with a Relax executable of one era, for
 * the build to embed. The model is main(x: float32[n], c: bool[]): x + 1 by the
 * library's addone when c holds, else a constant.
 */
#include <stdio.h>
#include <string.h>

#include "tests/artifact/blob_writer.h"
#include "tests/runtime/relax/image_writer.h"

static const struct {
	const char *name;
	enum image_era image;
	const char *kind;
} eras[] = {
	{"016", IMAGE_CLASSIC, "relax.Executable"},
	{"020", IMAGE_CLASSIC, "relax.VMExecutable"},
	{"021", IMAGE_021, "relax.VMExecutable"},
	{"022", IMAGE_022, "relax.VMExecutable"},
	{"023", IMAGE_023, "relax.VMExecutable"},
};

static void write_main(struct image *img)
{
	const struct msd_dtype float32 = {MSD_DT_FLOAT, 32, 1};
	const struct msd_dtype uint1 = {MSD_DT_UINT, 1, 1};
	const struct msd_dtype bool8 = {MSD_DT_BOOL, 8, 1};
	const float minus[] = {-1, -2};
	int64_t check = image_packed(img, "vm.builtin.check_tensor_info");
	int64_t shape_of = image_packed(img, "vm.builtin.shape_of");
	int64_t storage = image_packed(img, "vm.builtin.alloc_storage");
	int64_t tensor = image_packed(img, "vm.builtin.alloc_tensor");
	int64_t cond = image_packed(img, "vm.builtin.read_if_cond");
	int64_t copy = image_packed(img, "vm.builtin.copy");
	int64_t addone = image_packed(img, "addone");
	int64_t f32 = image_const_dtype(img, float32);
	int64_t boolean = image_const_dtype(img, img->era == IMAGE_023 ? bool8 : uint1);
	int64_t ctx = image_const_str(img, "ErrorContext(fn=main, loc=param) ");
	int64_t constant = image_const_f32(img, (int64_t[]){2}, 1, minus, 2);

	image_begin(img, "main", 2, "x,c", 7);
	image_call(img, VOID_REG, check, 4, arg_reg(0), arg_imm(1), arg_const(f32),
		   arg_const(ctx));
	image_call(img, VOID_REG, check, 4, arg_reg(1), arg_imm(0), arg_const(boolean),
		   arg_const(ctx));
	image_call(img, 2, cond, 1, arg_reg(1));
	image_if(img, 2, 6);
	image_call(img, 3, shape_of, 1, arg_reg(0));
	image_call(img, 4, storage, 4, VM_REG, arg_reg(3), arg_imm(0), arg_const(f32));
	image_call(img, 5, tensor, 4, arg_reg(4), arg_imm(0), arg_reg(3),
		   arg_const(f32));
	image_call(img, VOID_REG, addone, 2, arg_reg(0), arg_reg(5));
	image_goto(img, 2);
	image_call(img, 5, copy, 1, arg_const(constant));
	image_ret(img, 5);
	image_end(img);
	/* What a compiler would not write: a shape where addone takes a tensor. */
	image_begin(img, "misuse", 1, "s", 1);
	image_call(img, VOID_REG, addone, 2, arg_reg(0), arg_reg(0));
	image_ret(img, 0);
	image_end(img);
}

static void write_blob(size_t era, struct bw *out)
{
	struct blob_entry entries[] = {
		{.kind = eras[era].kind, .imports = {1}, .n_imports = 1},
		{.kind = "_lib"},
	};
	struct image img = {.era = eras[era].image};
	struct bw raw = {0};

	write_main(&img);
	struct msd_buf image = image_finish(&img);
	bw_raw(&raw, image.p, image.n);
	if (eras[era].image >= IMAGE_021) {
		bw_str_of(&entries[0].payload, &raw);
		blob_inline(out, entries, 2, true);
	} else {
		bw_raw(&entries[0].payload, raw.p, raw.n);
		blob_framed(out, entries, 2);
	}
	bw_free(&raw);
	bw_free(&entries[0].payload);
	msd_buf_finish(&image);
}

int main(int argc, char **argv)
{
	struct bw out = {0};
	FILE *f = argc == 3 ? fopen(argv[2], "wb") : NULL;

	for (size_t i = 0; f != NULL && i < sizeof(eras) / sizeof(eras[0]); i++) {
		if (strcmp(argv[1], eras[i].name) == 0)
			write_blob(i, &out);
	}
	bool is_ok = f != NULL && out.n > 0 && fwrite(out.p, 1, out.n, f) == out.n;
	is_ok = f != NULL && fclose(f) == 0 && is_ok;
	bw_free(&out);
	return is_ok ? 0 : 1;
}
