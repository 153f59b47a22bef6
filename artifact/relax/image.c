/*
 * Parse a payload into an image: magic and version, functions, memory scopes (v2),
 * constants by their era's tags, and two arrays of numbers, the instructions' offsets
 * and words. Then code.c checks everything that the VM relies on. Numbers are copied,
 * because the payload is not aligned; names and tensors' data borrow from it.
 */
#include "artifact/relax/image.h"

#include <inttypes.h>
#include <stdlib.h>

#include "artifact/params/tensor_blob.h"
#include "artifact/printable.h"
#include "artifact/relax/private.h"

#define VERSION "0.14" /* in every release so far */
/* The shortest entries: a function with empty strings, a constant of one u64. */
#define FUNC_MIN_BYTES 52u
#define CONST_MIN_BYTES 8u

static msd_err truncated(struct msd_diag *d, const char *where)
{
	return msd_diag_set(d, MSD_BAD_ARTIFACT, "VM image: truncated in its %s",
			    where);
}

/* calloc that does not return NULL for 0 elements */
static void *new_array(size_t n, size_t bytes)
{
	return calloc(n > 0 ? n : 1u, bytes);
}

static msd_err read_head(struct msd_cur *c, struct msd_relax_image *img,
			 struct msd_diag *d)
{
	uint64_t magic = msd_cur_u64(c);
	char text[MSD_PRINTABLE_MAX];

	if (c->bad)
		return truncated(d, "head");
	if (magic != MSD_RELAX_MAGIC_V1 && magic != MSD_RELAX_MAGIC_V2) {
		return msd_diag_set(
			d, MSD_BAD_ARTIFACT,
			"VM image: it does not start with the magic of one");
	}
	img->is_v2 = magic == MSD_RELAX_MAGIC_V2;
	img->version = msd_cur_str64(c);
	if (c->bad)
		return truncated(d, "head");
	if (!msd_span_is(img->version, VERSION)) {
		return msd_diag_set(
			d, MSD_UNSUPPORTED,
			"VM image: its version is \"%s\"; expected " VERSION,
			msd_printable(img->version, text));
	}
	return MSD_OK;
}

static msd_err read_func(struct msd_cur *c, struct msd_relax_func *f,
			 struct msd_diag *d)
{
	int32_t kind = msd_cur_i32(c);

	f->name = msd_cur_str64(c);
	f->start = msd_cur_i64(c);
	f->end = msd_cur_i64(c);
	f->n_args = msd_cur_i64(c);
	f->n_regs = msd_cur_i64(c);
	size_t n = msd_cur_count64(c, sizeof(uint64_t));
	if (c->bad)
		return truncated(d, "functions");
	if (kind < MSD_RELAX_PACKED || kind > MSD_RELAX_VMTIR) {
		return msd_diag_set(d, MSD_BAD_ARTIFACT,
				    "VM image: a function of the unknown kind %" PRId32,
				    kind);
	}
	f->kind = (enum msd_relax_func_kind)kind;
	f->params = new_array(n, sizeof(*f->params));
	if (f->params == NULL)
		return msd_diag_no_memory(d);
	for (; f->n_params < n && !c->bad; f->n_params++)
		f->params[f->n_params] = msd_cur_str64(c);
	return c->bad ? truncated(d, "functions") : MSD_OK;
}

static msd_err read_funcs(struct msd_cur *c, struct msd_relax_image *img,
			  struct msd_diag *d)
{
	size_t n = msd_cur_count64(c, FUNC_MIN_BYTES);
	msd_err err = MSD_OK;

	if (c->bad)
		return truncated(d, "functions");
	img->funcs = new_array(n, sizeof(*img->funcs));
	if (img->funcs == NULL)
		return msd_diag_no_memory(d);
	while (img->n_funcs < n && err == MSD_OK)
		err = read_func(c, &img->funcs[img->n_funcs++], d);
	return err;
}

/* The device of each constant; the host has one memory, so only check. */
static msd_err read_scopes(struct msd_cur *c, int64_t *ret_highest, struct msd_diag *d)
{
	size_t n = msd_cur_count64(c, 2 * sizeof(uint64_t));

	*ret_highest = -1;
	for (size_t i = 0; i < n && !c->bad; i++) {
		int64_t index = msd_cur_i64(c);

		(void)msd_cur_str64(c);
		if (index < 0) {
			return msd_diag_set(
				d, MSD_BAD_ARTIFACT,
				"VM image: a memory scope for the constant %" PRId64,
				index);
		}
		if (index > *ret_highest)
			*ret_highest = index;
	}
	return c->bad ? truncated(d, "memory scopes") : MSD_OK;
}

/* The tags of constants are type indices of their release. Tags of 0.21 and of later
 * releases do not conflict. Those up to 0.20 do, so the era selects the meaning. */
static bool const_kind_of(int32_t tag, enum msd_era era, enum msd_relax_const_kind *ret)
{
	static const enum msd_relax_const_kind classic[] = {
		MSD_RELAX_TENSOR, MSD_RELAX_DTYPE, MSD_RELAX_SHAPE,
		MSD_RELAX_STR,    MSD_RELAX_INT,   MSD_RELAX_FLOAT,
	};
	static const struct {
		int32_t tag;
		enum msd_relax_const_kind kind;
	} ffi[] = {
		{1, MSD_RELAX_INT},     {3, MSD_RELAX_FLOAT},   {5, MSD_RELAX_DTYPE},
		{65, MSD_RELAX_STR},    {69, MSD_RELAX_SHAPE},  {71, MSD_RELAX_SHAPE},
		{70, MSD_RELAX_TENSOR}, {72, MSD_RELAX_TENSOR},
	};

	if (era == MSD_ERA_CLASSIC) {
		if (tag < 0 || tag >= (int32_t)(sizeof(classic) / sizeof(*classic)))
			return false;
		*ret = classic[tag];
		return true;
	}
	for (size_t i = 0; i < sizeof(ffi) / sizeof(*ffi); i++) {
		if (ffi[i].tag == tag) {
			*ret = ffi[i].kind;
			return true;
		}
	}
	return false;
}

int32_t msd_relax_text_tag(enum msd_era era)
{
	return era == MSD_ERA_CLASSIC ? 3 : 65; /* the inverse of const_kind_of() */
}

static msd_err read_tensor(struct msd_cur *c, struct msd_relax_const *k,
			   struct msd_diag *d)
{
	struct msd_tensor_blob t;
	msd_err err = msd_tensor_blob_read(c, &t, d);

	if (err != MSD_OK)
		return err;
	k->as.tensor = malloc(sizeof(*k->as.tensor));
	if (k->as.tensor == NULL)
		return msd_diag_no_memory(d);
	*k->as.tensor = t;
	return MSD_OK;
}

/* Copy vec<i64>: the image is not aligned. */
static msd_err read_i64s(struct msd_cur *c, int64_t **ret, size_t *ret_n,
			 struct msd_diag *d)
{
	size_t n = msd_cur_count64(c, sizeof(int64_t));
	const uint8_t *p = msd_cur_read(c, n * sizeof(int64_t));

	if (c->bad)
		return truncated(d, "numbers");
	int64_t *values = new_array(n, sizeof(*values));
	if (values == NULL)
		return msd_diag_no_memory(d);
	for (size_t i = 0; i < n; i++)
		values[i] = (int64_t)msd_le64(p + i * sizeof(int64_t));
	*ret = values;
	*ret_n = n;
	return MSD_OK;
}

static msd_err read_const(struct msd_cur *c, enum msd_era era,
			  struct msd_relax_const *k, struct msd_diag *d)
{
	int32_t tag = msd_cur_i32(c);
	enum msd_relax_const_kind kind;

	if (c->bad)
		return truncated(d, "constants");
	if (!const_kind_of(tag, era, &kind)) {
		return msd_diag_set(
			d, MSD_BAD_ARTIFACT,
			"VM image: a constant with the unknown tag %" PRId32, tag);
	}
	k->kind = kind;
	switch (kind) {
	case MSD_RELAX_TENSOR:
		return read_tensor(c, k, d);
	case MSD_RELAX_SHAPE:
		return read_i64s(c, &k->as.shape.dim, &k->as.shape.n, d);
	case MSD_RELAX_STR:
		k->as.str = msd_cur_str64(c);
		break;
	case MSD_RELAX_INT:
		k->as.i = msd_cur_i64(c);
		break;
	case MSD_RELAX_FLOAT:
		k->as.f = msd_cur_f64(c);
		break;
	case MSD_RELAX_DTYPE:
		k->as.dtype.code = msd_cur_u8(c);
		k->as.dtype.bits = msd_cur_u8(c);
		k->as.dtype.lanes = msd_cur_u16(c);
		break;
	}
	return c->bad ? truncated(d, "constants") : MSD_OK;
}

static msd_err read_consts(struct msd_cur *c, enum msd_era era,
			   struct msd_relax_image *img, struct msd_diag *d)
{
	size_t n = msd_cur_count64(c, CONST_MIN_BYTES);
	msd_err err = MSD_OK;

	if (c->bad)
		return truncated(d, "constants");
	img->consts = new_array(n, sizeof(*img->consts));
	if (img->consts == NULL)
		return msd_diag_no_memory(d);
	while (img->n_consts < n && err == MSD_OK) {
		size_t i = img->n_consts++;

		err = read_const(c, era, &img->consts[i], d);
		if (err != MSD_OK)
			err = msd_diag_wrap(d, err, "constant %zu", i);
	}
	return err;
}

static msd_err read_image(struct msd_cur *c, enum msd_era era,
			  struct msd_relax_image *img, struct msd_diag *d)
{
	int64_t highest_scope = -1;
	msd_err err = read_head(c, img, d);

	if (err == MSD_OK)
		err = read_funcs(c, img, d);
	if (err == MSD_OK && img->is_v2)
		err = read_scopes(c, &highest_scope, d);
	if (err == MSD_OK)
		err = read_consts(c, era, img, d);
	if (err == MSD_OK)
		err = read_i64s(c, &img->offsets, &img->n_instrs, d);
	if (err == MSD_OK)
		err = read_i64s(c, &img->words, &img->n_words, d);
	if (err != MSD_OK)
		return err;
	if (highest_scope >= 0 && (uint64_t)highest_scope >= img->n_consts) {
		return msd_diag_set(d, MSD_BAD_ARTIFACT,
				    "VM image: a memory scope for the constant %" PRId64
				    " of %zu",
				    highest_scope, img->n_consts);
	}
	if (!msd_cur_end(c)) {
		return msd_diag_set(d, MSD_BAD_ARTIFACT,
				    "VM image: %zu bytes are left after its code",
				    c->left);
	}
	return msd_relax_check_code(img, d);
}

msd_err msd_relax_image_read(struct msd_span payload, enum msd_era era,
			     struct msd_relax_image *ret, struct msd_diag *d)
{
	struct msd_relax_image img = {0};
	struct msd_cur c = msd_cur_of(payload);

	if (era != MSD_ERA_FFI) { /* one string contains the image */
		struct msd_span inner = msd_cur_str64(&c);

		if (!msd_cur_end(&c))
			return truncated(d, "length");
		c = msd_cur_of(inner);
	}
	msd_err err = read_image(&c, era, &img, d);
	if (err != MSD_OK) {
		msd_relax_image_finish(&img);
		return err;
	}
	*ret = img;
	return MSD_OK;
}

void msd_relax_image_finish(struct msd_relax_image *img)
{
	if (img == NULL)
		return;
	for (size_t i = 0; i < img->n_funcs; i++)
		free(img->funcs[i].params);
	for (size_t i = 0; i < img->n_consts; i++) {
		if (img->consts[i].kind == MSD_RELAX_TENSOR) {
			free(img->consts[i].as.tensor);
		} else if (img->consts[i].kind == MSD_RELAX_SHAPE) {
			free(img->consts[i].as.shape.dim);
		}
	}
	free(img->funcs);
	free(img->consts);
	free(img->offsets);
	free(img->words);
	*img = (struct msd_relax_image){0};
}

enum msd_relax_arg msd_relax_arg_kind(int64_t word)
{
	return (enum msd_relax_arg)((uint64_t)word >> 56);
}

int64_t msd_relax_arg_value(int64_t word)
{
	uint64_t value = (uint64_t)word & (((uint64_t)1 << 56) - 1);
	uint64_t sign = (uint64_t)1 << 55;

	return (int64_t)((value ^ sign) - sign);
}
