/*
 * Happy path: find the first argument that does not fit its parameter, by the
 * daemon's rules. Write its word again with the dtype, the extents or the form of the
 * signature. For a file, write the line of Python that converts it. If the number of
 * arguments is wrong, write the whole command again: missing words are made from the
 * signature, surplus words are left out.
 */
#include "client/cli/advice.h"

#include <stdlib.h>
#include <string.h>

#include "client/cli/values/extents.h"
#include "client/cli/values/scalar.h"
#include "proto/base/spelling.h"
#include "proto/dtype.h"

#define PLAIN                                                                          \
	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@%+=:,./_-[]"

/* Bytes of the prefix NAME= in the word as typed. */
static size_t name_bytes(const struct msd_arguments *a, size_t i)
{
	return a->names[i] != NULL ? strlen(a->names[i]) + 1 : 0;
}

/* Append the word quoted for a shell. */
static void put_quoted(struct msd_buf *out, const char *word)
{
	const char *quote = word[strspn(word, PLAIN)] == '\0' ? "" : "'";

	msd_buf_printf(out, "%s", quote);
	for (; *word != '\0'; word++)
		msd_buf_printf(out, *word == '\'' ? "'\\''" : "%c", *word);
	msd_buf_printf(out, "%s", quote);
}

static bool is_tensor(const modser_value *v)
{
	return v->kind == MODSER_TENSOR || v->kind == MODSER_OUT;
}

static bool has_dtype(const modser_value *param, const modser_tensor *t)
{
	const struct msd_dtype got = {t->dtype.code, t->dtype.bits, t->dtype.lanes};
	struct msd_dtype want;

	return !msd_parameters_dtype(param, &want) || msd_dtype_eq(want, got) ||
	       (msd_dtype_is_bool(want) && msd_dtype_is_bool(got));
}

/* Length of "zeros:" in "zeros:float32[2]"; 0: the word has another form. */
static size_t maker_of(const char *word)
{
	static const char *const makers[] = {"zeros:", "ones:", "rand:", "out:"};

	for (size_t i = 0; i < sizeof(makers) / sizeof(makers[0]); i++) {
		if (strncmp(word, makers[i], strlen(makers[i])) == 0)
			return strlen(makers[i]);
	}
	return 0;
}

static void put_replaced(struct msd_buf *out, const char *word, const char *by)
{
	msd_buf_printf(out, "in place of ");
	put_quoted(out, word);
	msd_buf_printf(out, " write ");
	put_quoted(out, by);
}

/* Append the Python line that converts the elements of a file; @x are the required
 * extents. */
static void put_conversion(struct msd_buf *out, const struct msd_arguments *a, size_t i,
			   const modser_value *param, const struct msd_extents *x,
			   bool is_reshaped)
{
	const char *dtype = msd_parameters_text(param, "dtype");
	const int n_name = (int)name_bytes(a, i);
	const char *word = a->texts[i] + n_name;
	const size_t n = strlen(word) - 1;
	const bool has_end = n > 4 && strcmp(word + 1 + n - 4, ".npy") == 0;
	const int n_stem = (int)(has_end ? n - 4 : n);

	msd_buf_printf(out,
		       "convert it: python3 -c \"import numpy as n; "
		       "n.save('%.*s.new.npy', n.load('%s').astype('%s')",
		       n_stem, word + 1, word + 1, dtype);
	if (is_reshaped) {
		msd_buf_printf(out, ".reshape(");
		msd_extents_put(out, x);
		msd_buf_printf(out, ")");
	}
	msd_buf_printf(out, ")\"; then write %.*s@%.*s.new.npy in place of %s", n_name,
		       a->texts[i], n_stem, word + 1, a->texts[i]);
}

/* True if the name needs no quotes in Python and in a shell, and numpy has the type. */
static bool is_convertible(const char *word, const modser_value *param)
{
	static const char *const own[] = {"bool",   "int8",    "int16",   "int32",
					  "int64",  "uint8",   "uint16",  "uint32",
					  "uint64", "float16", "float32", "float64"};
	const char *dtype = msd_parameters_text(param, "dtype");

	if (word[0] != '@' || strcmp(word, "@-") == 0 ||
	    word[strspn(word, PLAIN)] != '\0' || strchr(word, ':') != NULL ||
	    dtype == NULL)
		return false;
	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++) {
		if (strcmp(dtype, own[i]) == 0)
			return true;
	}
	return false;
}

/* Append the word for a tensor of @x in place of argument @i, which may be a tensor
 * or not. */
static void put_tensor(struct msd_buf *out, const struct msd_arguments *a, size_t i,
		       const modser_value *param, const struct msd_extents *x)
{
	const modser_value *v = &a->values[i];
	const int n_name = (int)name_bytes(a, i);
	const char *word = a->texts[i] + n_name;
	const char *dtype = msd_parameters_text(param, "dtype");
	const bool fits = is_tensor(v) && msd_extents_fit(param, &v->as.tensor);
	const size_t maker = maker_of(word);
	const char *bracket = strchr(word, '[');
	struct msd_buf by = {0};

	if (fits && maker == 0 && word[0] != '@' && bracket != NULL) {
		msd_buf_printf(&by, "%.*s%s:%s", n_name, a->texts[i], dtype, bracket);
	} else if (maker > 0 || !is_tensor(v)) {
		msd_buf_printf(&by, "%.*s%.*s%s", n_name, a->texts[i],
			       maker > 0 ? (int)maker : 5,
			       maker > 0 ? word : "rand:", dtype);
		msd_extents_put(&by, x);
	}
	msd_buf_put_u8(&by, 0);
	if (by.n > 1 && !by.bad) {
		put_replaced(out, a->texts[i], (const char *)by.p);
		if (!is_tensor(v))
			msd_buf_printf(out, ", or a tensor from a file, @FILE.npy");
	} else if (is_convertible(word, param) &&
		   (fits || msd_extents_same_but_ones(x, &v->as.tensor))) {
		put_conversion(out, a, i, param, x, !fits);
	} else {
		msd_buf_printf(out, "in place of ");
		put_quoted(out, a->texts[i]);
		msd_buf_printf(out, " give a tensor of %s", dtype);
		msd_extents_put(out, x);
	}
	msd_buf_finish(&by);
}

/* For a parameter that is not a tensor: append a word of its kind. */
static void put_scalar(struct msd_buf *out, const struct msd_arguments *a, size_t i,
		       const modser_value *param)
{
	msd_buf_printf(out, "in place of ");
	put_quoted(out, a->texts[i]);
	msd_buf_printf(out, " write %.*s", (int)name_bytes(a, i), a->texts[i]);
	msd_scalar_put(out, &a->values[i], param);
}

/* Prefix of the word for parameter @i: "out" for the last parameter of a function
 * that fills it, else "rand". */
static const char *word_for(const struct msd_parameters *s, size_t i)
{
	const char *style = msd_parameters_text(s->function, "style");

	return style != NULL && strcmp(style, "prim") == 0 &&
			       i + 1 == s->params->as.tuple.n
		       ? "out"
		       : "rand";
}

/* Append the whole command for the function's name in @target and its parameters. */
static void put_command(struct msd_buf *out, const struct msd_arguments *a,
			const struct msd_parameters *s, const char *target)
{
	const size_t needed = msd_parameters_needed(s);
	const size_t n = a->n < needed                  ? needed
			 : a->n < s->params->as.tuple.n ? a->n
							: s->params->as.tuple.n;

	msd_buf_printf(out, "write modser call ");
	put_quoted(out, target);
	for (size_t i = 0; i < n; i++) {
		const modser_value *param = &s->params->as.tuple.item[i];
		const char *dtype = msd_parameters_text(param, "dtype");
		struct msd_extents x;

		msd_buf_printf(out, " ");
		if (i < a->n) {
			put_quoted(out, a->texts[i]);
		} else if (dtype != NULL && msd_extents_wanted(&x, a, s, i, param)) {
			msd_buf_printf(out, "%s:%s", word_for(s, i), dtype);
			msd_extents_put(out, &x);
		} else {
			msd_buf_printf(out, "ARGUMENT");
		}
	}
}

/* Append the advice for argument @i and @param; false: it fits, as far as known. */
static bool put_argument(struct msd_buf *out, const struct msd_arguments *a,
			 const struct msd_parameters *s, size_t i,
			 const modser_value *param)
{
	const modser_value *v = &a->values[i];
	struct msd_extents x;

	if (param == NULL || (v->kind == MODSER_NIL && msd_parameters_optional(param)))
		return false;
	if (!msd_parameters_is(param, "tensor")) {
		if (msd_scalar_fits(v, param))
			return false;
		put_scalar(out, a, i, param);
		return true;
	}
	if (msd_parameters_text(param, "dtype") == NULL ||
	    (is_tensor(v) && has_dtype(param, &v->as.tensor) &&
	     msd_extents_fit(param, &v->as.tensor)) ||
	    !msd_extents_wanted(&x, a, s, i, param))
		return false;
	put_tensor(out, a, i, param, &x);
	return true;
}

static bool is_taken(const struct msd_arguments *a, const char *name)
{
	for (size_t i = 0; i < a->n; i++) {
		if (a->names[i] != NULL && strcmp(a->names[i], name) == 0)
			return true;
	}
	return false;
}

/* For a name that no parameter has: append the most similar unused name, or all
 * names. */
static void put_name(struct msd_buf *out, const struct msd_arguments *a,
		     const struct msd_parameters *s, size_t i)
{
	struct msd_spelling near;
	struct msd_buf names = {0};

	msd_spelling_start(&near, msd_span_of(a->names[i]));
	for (size_t k = 0; k < s->params->as.tuple.n; k++) {
		const char *name =
			msd_parameters_text(&s->params->as.tuple.item[k], "name");

		if (name == NULL || is_taken(a, name))
			continue;
		msd_spelling_look(&near, msd_span_of(name));
		msd_buf_printf(&names, "%s%s", names.n > 0 ? ", " : "", name);
	}
	if (near.best.n > 0) {
		msd_buf_printf(out, "write %.*s= in place of %s=", (int)near.best.n,
			       (const char *)near.best.p, a->names[i]);
	} else {
		msd_buf_printf(out, "the other parameters are %.*s", (int)names.n,
			       (const char *)names.p);
	}
	msd_buf_finish(&names);
}

/* For named arguments: append the first parameter without one. */
static bool put_missing(struct msd_buf *out, const struct msd_arguments *a,
			const struct msd_parameters *s)
{
	for (size_t k = 0; k < msd_parameters_needed(s); k++) {
		const modser_value *param = &s->params->as.tuple.item[k];
		const char *name = msd_parameters_text(param, "name");
		const char *dtype = msd_parameters_text(param, "dtype");
		struct msd_extents x;
		size_t i = 0;

		while (i < a->n && msd_arguments_param(a, s, i) != param)
			i++;
		if (i < a->n || name == NULL)
			continue;
		msd_buf_printf(out, "add %s=", name);
		if (dtype != NULL && msd_extents_wanted(&x, a, s, k, param)) {
			msd_buf_printf(out, "%s:%s", word_for(s, k), dtype);
			msd_extents_put(out, &x);
		} else {
			msd_buf_printf(out, "ARGUMENT");
		}
		return true;
	}
	return false;
}

/* The parameter of @s for an input's key, a name or a number. */
static const modser_value *keyed(const struct msd_parameters *s,
				 const modser_value *key)
{
	if (key->kind == MODSER_STR)
		return msd_parameters_param(s, key->as.str.p, 0);
	return key->kind == MODSER_INT && key->as.i >= 0
		       ? msd_parameters_param(s, NULL, (size_t)key->as.i)
		       : NULL;
}

/*
 * For functions that set an instance's inputs: if the first argument names a function
 * of a virtual machine, use that function's parameters; if it is a key, use the
 * inputs of `run`.
 */
static bool put_inputs(struct msd_buf *out, const struct msd_arguments *a,
		       const struct msd_parameters *asked)
{
	struct msd_parameters s = *asked;
	const bool is_named = a->n > 0 && a->values[0].kind == MODSER_STR &&
			      msd_parameters_find(&s, a->values[0].as.str.p);

	if (!is_named && !msd_parameters_find(&s, "run"))
		return false;
	if (is_named && (s.params == NULL || a->n - 1 != s.params->as.tuple.n))
		return false;
	for (size_t i = 1; i < a->n; i += is_named ? 1 : 2) {
		const modser_value *param =
			is_named ? msd_parameters_param(&s, NULL, i - 1)
				 : keyed(&s, &a->values[i - 1]);

		if (put_argument(out, a, &s, i, param))
			return true;
	}
	return false;
}

bool msd_advice_put(struct msd_buf *out, const struct msd_arguments *a,
		    const struct msd_parameters *s, const char *target)
{
	if (s->function == NULL)
		return put_inputs(out, a, s);
	if (s->params == NULL)
		return false;
	if ((a->n < msd_parameters_needed(s) || a->n > s->params->as.tuple.n) &&
	    !a->has_names) {
		put_command(out, a, s, target);
		return true;
	}
	for (size_t i = 0; i < a->n; i++) {
		const modser_value *param = msd_arguments_param(a, s, i);

		if (param == NULL && a->names[i] != NULL) {
			put_name(out, a, s, i);
			return true;
		}
		if (put_argument(out, a, s, i, param))
			return true;
	}
	return a->has_names && put_missing(out, a, s);
}
