/* The table of a device module's kernels, in the format of the NAME.tvm_meta.json
 * that TVM saves with device code. */
#include <stdlib.h>
#include <string.h>

#include "pack/pieces_private.h"
#include "proto/dtype.h"

static json_t *text_of(struct msd_span s)
{
	return json_stringn(s.n > 0 ? (const char *)s.p : "", s.n);
}

/* Both bools have one name; the one that the era does not use gets another. */
static json_t *dtype_text(struct msd_dtype t, enum msd_era era)
{
	static const struct msd_dtype bit = {MSD_DT_UINT, 1, 1};
	char name[MSD_DTYPE_NAME_MAX];

	if (era == MSD_ERA_FFI && memcmp(&t, &bit, sizeof(t)) == 0)
		return json_string("uint1");
	return json_string(msd_dtype_format(t, name));
}

static bool parse_dtype(const char *name, enum msd_era era, struct msd_dtype *ret)
{
	static const struct msd_dtype bit = {MSD_DT_UINT, 1, 1};

	if (strcmp(name, "uint1") == 0 ||
	    (era != MSD_ERA_FFI && strcmp(name, "bool") == 0)) {
		*ret = bit;
		return true;
	}
	return msd_dtype_parse(name, strlen(name), ret);
}

static json_t *kernel_json(const struct msd_kernel *k, enum msd_era era)
{
	json_t *args = json_array();
	json_t *tags = json_array();
	json_t *extra = json_array();
	bool ok = true;

	for (size_t i = 0; i < k->n_args; i++)
		ok &= json_array_append_new(args, dtype_text(k->args[i], era)) == 0;
	for (size_t i = 0; i < k->n_tags; i++)
		ok &= json_array_append_new(tags, text_of(k->tags[i])) == 0;
	for (size_t i = 0; i < k->n_extra && i < k->n_args; i++)
		ok &= json_array_append_new(extra, json_integer(k->extra[i])) == 0;
	json_t *kernel = json_pack("{s:o, s:o, s:o}", "name", text_of(k->info_name),
				   "arg_types", args, "launch_param_tags", tags);
	if (kernel != NULL && era != MSD_ERA_CLASSIC)
		ok &= json_object_set(kernel, "arg_extra_tags", extra) == 0;
	json_decref(extra);
	if (ok)
		return kernel;
	json_decref(kernel);
	return NULL;
}

msd_err msd_split_kernels(struct msd_splitter *s, const struct msd_kernel *kernels,
			  size_t n, struct msd_diag *d)
{
	json_t *info = json_object();
	struct msd_buf text = {0};
	bool ok = true;

	for (size_t i = 0; i < n && ok; i++) {
		const struct msd_kernel *k = &kernels[i];

		ok = json_object_setn_new(info, (const char *)k->name.p, k->name.n,
					  kernel_json(k, s->era)) == 0;
	}
	json_t *root = json_pack("{s:s, s:o}", "tvm_version", "", "func_info", info);
	char *dumped = ok ? json_dumps(root, JSON_INDENT(2)) : NULL;
	json_decref(root);
	if (dumped == NULL)
		return msd_split_damaged(d); /* JSON cannot represent the name */
	msd_buf_printf(&text, "%s\n", dumped);
	free(dumped);
	return msd_split_made(s, "functions", ".tvm_meta.json", &text, d);
}

static msd_err bad_kernel(const char *name, const char *what, struct msd_diag *d)
{
	return msd_diag_set(d, MSD_BAD_ARTIFACT, "function \"%s\": %s", name, what);
}

static msd_err join_args(const json_t *args, const char *name, enum msd_era era,
			 struct msd_buf *out, struct msd_diag *d)
{
	msd_buf_put_u64(out, json_array_size(args));
	for (size_t i = 0; i < json_array_size(args); i++) {
		const char *text = json_string_value(json_array_get(args, i));
		struct msd_dtype t;

		if (text == NULL || !parse_dtype(text, era, &t)) {
			return bad_kernel(name, "the type of an argument is unknown",
					  d);
		}
		msd_buf_put_u8(out, t.code);
		msd_buf_put_u8(out, t.bits);
		msd_buf_put_u16(out, t.lanes);
	}
	return MSD_OK;
}

static msd_err join_kernel(const char *name, const json_t *kernel, enum msd_era era,
			   struct msd_buf *out, struct msd_diag *d)
{
	const json_t *info_name = json_object_get(kernel, "name");
	const json_t *args = json_object_get(kernel, "arg_types");
	const json_t *tags = json_object_get(kernel, "launch_param_tags");
	const json_t *extra = json_object_get(kernel, "arg_extra_tags");

	if (tags == NULL) /* the key in 0.6 and 0.7 */
		tags = json_object_get(kernel, "thread_axis_tags");
	if (!json_is_array(args) || !json_is_array(tags)) {
		return bad_kernel(name,
				  "expected \"arg_types\" and "
				  "\"launch_param_tags\"",
				  d);
	}
	msd_buf_put_str64(out, json_string_value(info_name),
			  json_string_length(info_name));
	msd_err err = join_args(args, name, era, out, d);
	if (err == MSD_OK)
		err = msd_join_array(tags, "launch_param_tags", out, d);
	if (err != MSD_OK || era == MSD_ERA_CLASSIC)
		return err;
	msd_buf_put_u64(out, json_array_size(extra));
	for (size_t i = 0; i < json_array_size(extra); i++) {
		msd_buf_put_u32(out,
				(uint32_t)json_integer_value(json_array_get(extra, i)));
	}
	return MSD_OK;
}

msd_err msd_join_kernels(const struct msd_joiner *j, struct msd_buf *out,
			 struct msd_diag *d)
{
	struct msd_buf text = {0};
	json_error_t why;
	const char *name;
	json_t *kernel;
	msd_err err = msd_join_read(j, "functions", &text, d);

	if (err != MSD_OK) {
		msd_buf_finish(&text);
		return err;
	}
	json_t *root = json_loadb((const char *)text.p, text.n,
				  JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &why);
	msd_buf_finish(&text);
	json_t *info = json_object_get(root, "func_info");
	if (root == NULL || !json_is_object(info)) {
		err = msd_diag_set(d, MSD_BAD_ARTIFACT, "functions: line %d: %s",
				   root == NULL ? why.line : 1,
				   root == NULL ? why.text : "expected \"func_info\"");
	} else {
		msd_buf_put_u64(out, json_object_size(info));
	}
	json_object_foreach(info, name, kernel)
	{
		if (err != MSD_OK)
			break;
		msd_buf_put_str64(out, name, strlen(name));
		err = join_kernel(name, kernel, j->era, out, d);
	}
	json_decref(root);
	return err;
}
