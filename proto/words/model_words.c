/*
 * Words that a user gives for a framework's model.
 *
 * Happy path: each word is checked, then copied or appended to its member. Failures: a
 * word of another form, or one too long, is refused with the expected form, and the
 * member is unchanged.
 */
#include "proto/words/model_words.h"

#include <string.h>

#include "proto/base/utf8.h"
#include "proto/name.h"
#include "proto/type_text.h"

msd_err msd_model_words_format(struct msd_model_words *w, struct msd_span text,
			       struct msd_diag *d)
{
	if (text.n > MSD_MODEL_FORMAT_BYTES || !msd_name_valid(text)) {
		return msd_diag_set(d, MSD_BAD_REQUEST,
				    "format \"%.*s\": expected a name such as onnx "
				    "(`modser formats` lists them)",
				    (int)(text.n < 64 ? text.n : 64),
				    (const char *)text.p);
	}
	memcpy(w->format, text.p, text.n);
	w->format[text.n] = '\0';
	return MSD_OK;
}

static msd_err bad(struct msd_span word, struct msd_diag *d)
{
	return msd_diag_set(d, MSD_BAD_REQUEST,
			    "input \"%.*s\": expected " MSD_MODEL_INPUT_FORM,
			    (int)(word.n < 128 ? word.n : 128), (const char *)word.p);
}

/* Last position of @byte in @s; s.n if absent. */
static size_t find_last(struct msd_span s, uint8_t byte)
{
	const uint8_t *at = s.n > 0 ? memrchr(s.p, byte, s.n) : NULL;

	return at != NULL ? (size_t)(at - s.p) : s.n;
}

/* Names are sent as text, and are stored in a line of the store. */
static bool is_name(struct msd_span name)
{
	for (size_t i = 0; i < name.n; i++) {
		if (name.p[i] < ' ' || name.p[i] == 0x7f)
			return false;
	}
	return name.n > 0 && msd_utf8_valid(name);
}

/* Length of the first item of @list, with its ']'. */
static size_t word_of(struct msd_span list)
{
	for (size_t i = 0; i < list.n; i++) {
		if (list.p[i] == ']' && (i + 1 == list.n || list.p[i + 1] == ':'))
			return i + 1;
	}
	return 0;
}

msd_err msd_model_input_parse(struct msd_span *list, struct msd_model_input *ret,
			      struct msd_diag *d)
{
	const struct msd_span word = {list->p, word_of(*list)};

	if (word.n == 0)
		return bad(*list, d);
	const size_t bracket = find_last(word, '[');
	const struct msd_span head = {word.p, bracket < word.n ? bracket : 0};
	const size_t equals = find_last(head, '=');
	if (equals == head.n)
		return bad(word, d);
	ret->name = (struct msd_span){head.p, equals};
	const bool is_fine =
		is_name(ret->name) &&
		msd_dtype_parse((const char *)head.p + equals + 1, head.n - equals - 1,
				&ret->dtype) &&
		msd_shape_parse((struct msd_span){word.p + bracket, word.n - bracket},
				true, ret->shape, &ret->ndim);
	if (!is_fine)
		return bad(word, d);
	/* A trailing ':' without an item after it is an error. */
	const size_t taken = word.n + (word.n + 1 < list->n);
	if (word.n + 1 == list->n)
		return bad(*list, d);
	list->p += taken;
	list->n -= taken;
	return MSD_OK;
}

/* Append @text to @list, a member of MSD_MODEL_INPUT_BYTES bytes. */
static msd_err append(char *list, char separator, struct msd_span text,
		      const char *advice, const char *key, struct msd_diag *d)
{
	const size_t there = strlen(list), from = there + (there > 0);

	if (from > MSD_MODEL_INPUT_BYTES || text.n > MSD_MODEL_INPUT_BYTES - from) {
		return msd_diag_set(d, MSD_BAD_REQUEST,
				    "%s: %zu bytes, expected at most %u in all; %s",
				    key, from + text.n, MSD_MODEL_INPUT_BYTES, advice);
	}
	if (there > 0)
		list[there] = separator;
	memcpy(list + from, text.p, text.n);
	list[from + text.n] = '\0';
	return MSD_OK;
}

msd_err msd_model_words_input(struct msd_model_words *w, struct msd_span text,
			      struct msd_diag *d)
{
	struct msd_span left = text;
	msd_err err = text.n > 0 ? MSD_OK : bad(text, d);

	while (err == MSD_OK && left.n > 0) {
		struct msd_model_input one;

		err = msd_model_input_parse(&left, &one, d);
	}
	if (err != MSD_OK)
		return err;
	return append(w->input, ':', text,
		      "an extent that has a name need be said once", "input", d);
}

static bool are_names(struct msd_span list)
{
	while (list.n > 0) {
		const uint8_t *comma = memchr(list.p, ',', list.n);
		const size_t n = comma != NULL ? (size_t)(comma - list.p) : list.n;

		if (!is_name((struct msd_span){list.p, n}))
			return false;
		if (comma == NULL)
			return true;
		list = (struct msd_span){list.p + n + 1, list.n - n - 1};
	}
	return false;
}

msd_err msd_model_words_outputs(struct msd_model_words *w, struct msd_span text,
				struct msd_diag *d)
{
	if (!are_names(text)) {
		return msd_diag_set(d, MSD_BAD_REQUEST,
				    "outputs \"%.*s\": expected names of tensors, "
				    "with a comma between them",
				    (int)(text.n < 128 ? text.n : 128),
				    (const char *)text.p);
	}
	return append(w->outputs, ',', text, "give only the tensors that you need",
		      "outputs", d);
}

msd_err msd_model_words_signature(struct msd_model_words *w, struct msd_span text,
				  struct msd_diag *d)
{
	if (text.n > MSD_MODEL_SIGNATURE_BYTES || !is_name(text)) {
		return msd_diag_set(d, MSD_BAD_REQUEST,
				    "signature \"%.*s\": expected a name of at most "
				    "%u bytes, such as serving_default",
				    (int)(text.n < 64 ? text.n : 64),
				    (const char *)text.p, MSD_MODEL_SIGNATURE_BYTES);
	}
	memcpy(w->signature, text.p, text.n);
	w->signature[text.n] = '\0';
	return MSD_OK;
}
