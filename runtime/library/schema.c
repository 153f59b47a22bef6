/*
 * Converts tvm-ffi's description of a function's types into a signature.
 *
 * Happy path: the metadata is JSON that contains the schema, again JSON, as a text.
 * Each parameter becomes a kind for the checks and a type name for people. Failures:
 * a text of another form leaves the signature unknown.
 */
#include "runtime/library/schema.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/module/signature.h"

#define MAX_DEPTH 16 /* nesting depth of types that are shown */

static const struct {
	const char *type;  /* type name in the schema */
	const char *shown; /* type name in our signatures */
	enum msd_kind_hint kind;
} types[] = {
	{"int", "int", MSD_P_INT},
	{"float", "float", MSD_P_FLOAT},
	{"bool", "bool", MSD_P_BOOL},
	{"DLTensor*", "Tensor", MSD_P_TENSOR},
	{"ffi.Tensor", "Tensor", MSD_P_TENSOR},
	{"ffi.String", "str", MSD_P_STR},
	{"ffi.SmallStr", "str", MSD_P_STR},
	{"const char*", "str", MSD_P_STR},
	{"std::string", "str", MSD_P_STR},
	{"ffi.Shape", "shape", MSD_P_SHAPE},
	{"ffi.Array", "Array", MSD_P_TUPLE},
	{"std::vector", "Array", MSD_P_TUPLE},
	{"Tuple", "Tuple", MSD_P_TUPLE},
	{"std::tuple", "Tuple", MSD_P_TUPLE},
	{"std::optional", "Optional", MSD_P_OTHER},
	{"std::variant", "Variant", MSD_P_OTHER},
	{"ffi.Bytes", "bytes", MSD_P_OTHER},
	{"TVMFFIByteArray*", "bytes", MSD_P_OTHER},
	{"DataType", "dtype", MSD_P_OTHER},
	{"Device", "device", MSD_P_OTHER},
};

static const char *word_of(const json_t *type)
{
	const char *word = json_string_value(json_object_get(type, "type"));

	return word != NULL ? word : "?";
}

/* For types outside the table only the function's own checks apply. */
static enum msd_kind_hint kind_of(const json_t *type)
{
	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++) {
		if (strcmp(types[i].type, word_of(type)) == 0)
			return types[i].kind;
	}
	return MSD_P_OTHER;
}

static const char *shown_word(const json_t *type)
{
	const char *word = word_of(type);

	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++) {
		if (strcmp(types[i].type, word) == 0)
			return types[i].shown;
	}
	return strncmp(word, "ffi.", 4) == 0 ? word + 4 : word;
}

/* "Array[int]"; deep enough for realistic types. */
static void put_type(const json_t *type, int depth, struct msd_buf *out) /* NOLINT */
{
	const json_t *args = json_object_get(type, "args");

	msd_buf_printf(out, "%s", shown_word(type));
	if (json_array_size(args) == 0)
		return;
	msd_buf_printf(out, "[");
	for (size_t i = 0; i < json_array_size(args); i++) {
		msd_buf_printf(out, "%s", i > 0 ? ", " : "");
		if (depth < MAX_DEPTH) {
			put_type(json_array_get(args, i), depth + 1, out);
		} else {
			msd_buf_printf(out, "...");
		}
	}
	msd_buf_printf(out, "]");
}

/* Location of the parts of a function's schema: named members since 0.1.15 of
 * tvm-ffi, before that one list that begins with the result. */
struct parts {
	const json_t *result;
	const json_t *params;
	size_t first; /* first index in @params */
};

static bool find_parts(const json_t *schema, struct parts *ret)
{
	const json_t *named = json_object_get(schema, "named_args");
	const json_t *args = json_object_get(schema, "args");

	if (strcmp(word_of(schema), "ffi.Function") != 0)
		return false;
	if (json_is_array(json_object_get(named, "params"))) {
		ret->result = json_array_get(json_object_get(named, "return"), 0);
		ret->params = json_object_get(named, "params");
		ret->first = 0;
		return true;
	}
	ret->result = json_array_get(args, 0);
	ret->params = args;
	ret->first = 1;
	return ret->result != NULL;
}

static msd_err compose(const struct parts *parts, const char *name,
		       struct msd_signature *ret, struct msd_diag *d)
{
	const size_t n = json_array_size(parts->params) - parts->first;
	struct msd_signature s = {0};
	struct msd_buf text = {0};
	msd_err err = msd_signature_init(&s, n, d);

	if (err != MSD_OK)
		return err == MSD_NOMEM ? err : MSD_OK;
	msd_buf_printf(&text, "%s(", name);
	for (size_t i = 0; i < n; i++) {
		const json_t *type = json_array_get(parts->params, parts->first + i);

		s.params[i].kind = kind_of(type);
		msd_buf_printf(&text, "%s", i > 0 ? ", " : "");
		put_type(type, 0, &text);
	}
	msd_buf_printf(&text, ")");
	if (parts->result != NULL && strcmp(word_of(parts->result), "None") != 0) {
		msd_buf_printf(&text, " -> ");
		put_type(parts->result, 0, &text);
	}
	msd_buf_put_u8(&text, '\0');
	if (text.bad) {
		msd_buf_finish(&text);
		msd_signature_finish(&s);
		return msd_diag_no_memory(d);
	}
	s.text = (char *)text.p;
	*ret = s;
	return MSD_OK;
}

msd_err msd_schema_read(struct msd_span metadata, const char *name,
			struct msd_signature *ret, struct msd_diag *d)
{
	json_t *outer = json_loadb((const char *)metadata.p, metadata.n, 0, NULL);
	const char *text = json_string_value(json_object_get(outer, "type_schema"));
	json_t *schema = text != NULL ? json_loads(text, 0, NULL) : NULL;
	struct parts parts = {0};
	msd_err err = MSD_OK;

	if (find_parts(schema, &parts))
		err = compose(&parts, name, ret, d);
	json_decref(schema);
	json_decref(outer);
	return err;
}
