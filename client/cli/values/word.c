/*
 * Happy path of a word: the prefix NAME= is removed. The rest is a number, @FILE, one
 * of three names, or a form with a prefix (out:, zeros:, str:, ...). The value
 * borrows from the word and from other fields of the struct.
 *
 * Failures: the error quotes the word and the expected form; if it looks like a file
 * without the @, the error says so.
 */
#include "client/cli/values/word.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/cli/values/file.h"
#include "client/cli/values/generated.h"
#include "proto/limits.h"
#include "proto/type_text.h"

/* Skip the digits at @p. */
static const char *digits(const char *p)
{
	while (*p >= '0' && *p <= '9')
		p++;
	return p;
}

static const char *behind_sign(const char *p)
{
	return *p == '-' || *p == '+' ? p + 1 : p;
}

static bool is_int(const char *text)
{
	const char *p = behind_sign(text);

	return *p != '\0' && *digits(p) == '\0';
}

/* 2.0 2. .5 1e-3 2.5E+7 inf nan */
static bool is_float(const char *text)
{
	const char *p = behind_sign(text);
	const char *whole = digits(p);
	const char *end = *whole == '.' ? digits(whole + 1) : whole;

	if (strcmp(p, "inf") == 0 || strcmp(p, "nan") == 0)
		return true;
	if (end - p == (*whole == '.')) /* no digits */
		return false;
	if (*end == 'e' || *end == 'E') {
		p = behind_sign(end + 1);
		end = digits(p);
		return end != p && *end == '\0';
	}
	return *end == '\0' && *whole == '.';
}

bool msd_word_is_number(const char *text)
{
	return is_int(text) || is_float(text);
}

static msd_err parse_number(const char *text, struct msd_word *w, struct msd_diag *d)
{
	errno = 0;
	if (is_int(text)) {
		long long v = strtoll(text, NULL, 10);

		if (errno == ERANGE) {
			return msd_diag_set(
				d, MSD_BAD_REQUEST,
				"%s is beyond int64; for a float write %s.0", text,
				text);
		}
		w->value = modser_int(v);
		return MSD_OK;
	}
	double v = strtod(text, NULL);
	if (isinf(v) && errno == ERANGE)
		return msd_diag_set(d, MSD_BAD_REQUEST, "%s is beyond float64", text);
	w->value = modser_float(v);
	return MSD_OK;
}

static msd_err bad(const char *text, const char *what, struct msd_diag *d)
{
	return msd_diag_set(d, MSD_BAD_REQUEST, "argument \"%s\": %s", text, what);
}

/* Also accepts names with widths that no library has, such as float33. */
static bool parse_type(const char *name, size_t n, struct msd_dtype *ret)
{
	struct msd_dtype t;

	if (!msd_dtype_parse(name, n, &t))
		return false;
	if (t.code == MSD_DT_FLOAT && t.bits < 16)
		return false;
	if (t.code <= MSD_DT_FLOAT && (t.bits & (t.bits - 1u)) != 0)
		return false;
	if (t.code <= MSD_DT_FLOAT && t.bits > 64)
		return false;
	*ret = t;
	return true;
}

static msd_err parse_shape(const char *text, const char *rest, struct msd_word *w,
			   struct msd_diag *d)
{
	uint32_t ndim;

	if (!msd_shape_parse(msd_span_of(rest), false, w->shape, &ndim))
		return bad(text, "write a shape as shape:[1,2]", d);
	w->value.kind = MODSER_SHAPE;
	w->value.as.shape.dim = w->shape;
	w->value.as.shape.ndim = ndim;
	return MSD_OK;
}

/* "float32[2,3]": a tensor of @w->shape, with its memory in @w->data. */
static msd_err parse_tensor(const char *text, const char *rest, struct msd_word *w,
			    modser_value *ret, struct msd_diag *d)
{
	size_t name = strcspn(rest, "[");
	struct msd_dtype t;
	uint64_t bytes;
	uint32_t ndim;

	if (!parse_type(rest, name, &t) || t.code == MSD_DT_HANDLE)
		return bad(text, "unknown dtype; use numpy's names", d);
	if (!msd_shape_parse(msd_span_of(rest + name), false, w->shape, &ndim)) {
		return bad(text, "write a tensor as float32[2,3], [] for rank 0", d);
	}
	modser_dtype dtype = {t.code, t.bits, t.lanes};
	if (!modser_tensor_bytes(dtype, w->shape, ndim, &bytes) ||
	    bytes > MSD_MAX_PAYLOAD_BYTES)
		return bad(text, "a dimension is negative or the tensor too large", d);
	w->data = malloc((size_t)bytes + 1);
	if (w->data == NULL)
		return msd_diag_set(d, MSD_NOMEM, "argument \"%s\": no memory", text);
	*ret = modser_tensor_arg(dtype, w->shape, ndim, w->data);
	ret->as.tensor.bytes = bytes;
	return MSD_OK;
}

/* out:float32[2,3] */
static msd_err parse_out(const char *text, const char *rest, struct msd_word *w,
			 struct msd_diag *d)
{
	modser_value v = modser_nil();
	msd_err err = parse_tensor(text, rest, w, &v, d);

	if (err == MSD_OK) {
		w->value = modser_out_arg(v.as.tensor.dtype, w->shape, v.as.tensor.ndim,
					  w->data);
	}
	return err;
}

static msd_err parse_filled(const char *text, const char *rest, struct msd_word *w,
			    enum msd_generated_with with, struct msd_diag *d)
{
	msd_err err = parse_tensor(text, rest, w, &w->value, d);
	const modser_tensor *t = &w->value.as.tensor;

	if (err != MSD_OK)
		return err;
	err = msd_generated_make(
		(struct msd_dtype){t->dtype.code, t->dtype.bits, t->dtype.lanes}, with,
		w->data, t->bytes, d);
	return err == MSD_OK ? err : msd_diag_wrap(d, err, "argument \"%s\"", text);
}

static msd_err parse_zeros(const char *text, const char *rest, struct msd_word *w,
			   struct msd_diag *d)
{
	return parse_filled(text, rest, w, MSD_GENERATED_ZEROS, d);
}

static msd_err parse_ones(const char *text, const char *rest, struct msd_word *w,
			  struct msd_diag *d)
{
	return parse_filled(text, rest, w, MSD_GENERATED_ONES, d);
}

static msd_err parse_rand(const char *text, const char *rest, struct msd_word *w,
			  struct msd_diag *d)
{
	return parse_filled(text, rest, w, MSD_GENERATED_RANDOM, d);
}

static msd_err parse_dtype(const char *text, const char *rest, struct msd_word *w,
			   struct msd_diag *d)
{
	struct msd_dtype t;

	if (!parse_type(rest, strlen(rest), &t))
		return bad(text, "unknown dtype; use numpy's names", d);
	w->value.kind = MODSER_DTYPE;
	w->value.as.dtype = (modser_dtype){t.code, t.bits, t.lanes};
	return MSD_OK;
}

static msd_err parse_device(const char *text, const char *rest, struct msd_word *w,
			    struct msd_diag *d)
{
	struct msd_device dev;

	if (!msd_device_parse(rest, strlen(rest), &dev))
		return bad(text, "write a device as device:cpu:0", d);
	w->value.kind = MODSER_DEVICE;
	w->value.as.device = (modser_device){dev.type, dev.id};
	return MSD_OK;
}

static msd_err parse_str(const char *text, const char *rest, struct msd_word *w,
			 struct msd_diag *d)
{
	(void)text;
	(void)d;
	w->value = modser_str(rest);
	return MSD_OK;
}

static msd_err parse_bytes(const char *text, const char *rest, struct msd_word *w,
			   struct msd_diag *d)
{
	if (rest[0] != '@' || rest[1] == '\0')
		return bad(text, "give bytes from a file: bytes:@FILE", d);
	msd_err err = msd_file_read(rest + 1, &w->file, d);
	if (err != MSD_OK)
		return err;
	w->value.kind = MODSER_BYTES;
	w->value.as.str.p = (const char *)w->file.p;
	w->value.as.str.n = w->file.n;
	return MSD_OK;
}

/* @FILE or @FILE:DTYPE. The text after the last colon is a dtype if it is a valid
 * name; else the colon belongs to the file's name. */
static msd_err parse_file(const char *text, struct msd_word *w, struct msd_diag *d)
{
	const char *colon = strrchr(text, ':');
	struct msd_dtype as = {0};
	bool has_type = colon != NULL && parse_type(colon + 1, strlen(colon + 1), &as);
	char *path = has_type ? strndup(text, (size_t)(colon - text)) : strdup(text);

	if (path == NULL)
		return msd_diag_no_memory(d);
	msd_err err = msd_file_read(path, &w->file, d);
	if (err == MSD_OK) {
		err = msd_npy_read((struct msd_span){w->file.p, w->file.n},
				   has_type ? &as : NULL, &w->npy, d);
		if (err != MSD_OK) {
			err = msd_diag_wrap(d, err, "%s",
					    strcmp(path, "-") == 0 ? "standard input"
								   : path);
		}
	} else if (err == MSD_NOT_FOUND && colon != NULL && !has_type) {
		err = msd_diag_set(d, err,
				   "%s: no such file, and \"%s\" is not a dtype", path,
				   colon + 1);
	}
	free(path);
	if (err == MSD_OK) {
		w->value = modser_tensor_arg((modser_dtype){w->npy.dtype.code,
							    w->npy.dtype.bits,
							    w->npy.dtype.lanes},
					     w->npy.shape, w->npy.ndim, w->npy.data);
	}
	return err;
}

bool msd_word_wants_type(const struct msd_word *w)
{
	return w->bracket.ndim > 0 && w->data == NULL;
}

msd_err msd_word_set_type(struct msd_word *w, struct msd_dtype t, struct msd_diag *d)
{
	msd_err err = msd_bracket_make(&w->bracket, t, &w->data, d);

	if (err == MSD_OK) {
		w->value =
			modser_tensor_arg((modser_dtype){t.code, t.bits, t.lanes},
					  w->bracket.shape, w->bracket.ndim, w->data);
	}
	return err;
}

/* float32:[1.0,2.0], if the prefix is a dtype. */
static bool has_type(const char *text, struct msd_dtype *ret)
{
	const char *colon = strchr(text, ':');

	return colon != NULL && colon[1] == '[' &&
	       parse_type(text, (size_t)(colon - text), ret);
}

static msd_err parse_bracket(const char *text, const char *rest, struct msd_word *w,
			     const struct msd_dtype *as, struct msd_diag *d)
{
	msd_err err = msd_bracket_parse(rest, &w->bracket, d);

	if (err == MSD_OK && as != NULL)
		err = msd_word_set_type(w, *as, d);
	return err == MSD_OK ? err : msd_diag_wrap(d, err, "argument \"%.40s\"", text);
}

static const struct {
	const char *prefix;
	msd_err (*parse)(const char *text, const char *rest, struct msd_word *w,
			 struct msd_diag *d);
} forms[] = {
	{"out:", parse_out},     {"str:", parse_str},       {"bytes:", parse_bytes},
	{"dtype:", parse_dtype}, {"device:", parse_device}, {"shape:", parse_shape},
	{"zeros:", parse_zeros}, {"ones:", parse_ones},     {"rand:", parse_rand}};

static msd_err parse_value(const char *text, struct msd_word *ret, struct msd_diag *d)
{
	struct msd_dtype as = {0};

	if (text[0] == '[')
		return parse_bracket(text, text, ret, NULL, d);
	if (has_type(text, &as))
		return parse_bracket(text, strchr(text, '['), ret, &as, d);
	if (msd_word_is_number(text))
		return parse_number(text, ret, d);
	if (text[0] == '@' && text[1] != '\0')
		return parse_file(text + 1, ret, d);
	if (strcmp(text, "none") == 0)
		return MSD_OK;
	if (strcmp(text, "true") == 0 || strcmp(text, "false") == 0) {
		ret->value = modser_bool(text[0] == 't');
		return MSD_OK;
	}
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		size_t n = strlen(forms[i].prefix);

		if (strncmp(text, forms[i].prefix, n) == 0)
			return forms[i].parse(text, text + n, ret, d);
	}
	if (access(text, F_OK) == 0) {
		return msd_diag_set(d, MSD_BAD_REQUEST,
				    "argument \"%s\": write a file as @%s", text, text);
	}
	return msd_diag_set(d, MSD_BAD_REQUEST,
			    "argument \"%s\": not a number, @file, [1.0,2.0], out:, "
			    "zeros:, ones:, rand:, bytes:, dtype:, device:, shape:, "
			    "true, false or none; for a text write str:%s",
			    text, text);
}

static bool is_form(const char *text)
{
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		if (strncmp(text, forms[i].prefix, strlen(forms[i].prefix)) == 0)
			return true;
	}
	return text[0] == '@' || text[0] == '[';
}

/* Length of the name in @text, NAME=ARGUMENT; 0: no name. */
static size_t name_of(const char *text)
{
	const char *sign = is_form(text) ? NULL : strchr(text, '=');

	return sign != NULL ? (size_t)(sign - text) : 0;
}

msd_err msd_word_parse(const char *text, struct msd_word *ret, struct msd_diag *d)
{
	const size_t n = name_of(text);

	*ret = (struct msd_word){.value = modser_nil()};
	if (n == 0)
		return parse_value(text, ret, d);
	ret->name = strndup(text, n);
	if (ret->name == NULL)
		return msd_diag_no_memory(d);
	return parse_value(text + n + 1, ret, d);
}
void msd_word_finish(struct msd_word *w)
{
	if (w == NULL)
		return;
	free(w->name);
	msd_npy_finish(&w->npy);
	msd_buf_finish(&w->file);
	msd_bracket_finish(&w->bracket);
	free(w->data);
}
