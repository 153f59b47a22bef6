/* Kinds that store the code of each kernel separately: metal since 0.13, vulkan,
 * webgpu. Each kernel becomes a file with its name. */
#include <stdio.h>
#include <string.h>

#include "pack/pieces_private.h"

#define KEY_SHADERS "shaders" /* a list of objects: name, file, for vulkan flag */
#define NAME_MAX_BYTES 100    /* limit for a kernel's part of a file name */
#define SUFFIX_BYTES (NAME_MAX_BYTES + 64)

/* ".NAME.wgsl"; an invalid file name is replaced by a number, so that names stay
 * unique. */
static void name_file(size_t i, struct msd_span kernel, const char *ending,
		      char suffix[static SUFFIX_BYTES])
{
	char name[NAME_MAX_BYTES + 1];
	size_t n = kernel.n < NAME_MAX_BYTES ? kernel.n : NAME_MAX_BYTES;
	bool is_same = n == kernel.n && n > 0;

	for (size_t k = 0; k < n; k++) {
		char c = (char)kernel.p[k];
		bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
				(c >= '0' && c <= '9') || c == '_';

		name[k] = (char)(is_plain ? c : '_');
		is_same &= is_plain;
	}
	name[n] = '\0';
	if (is_same) {
		(void)snprintf(suffix, SUFFIX_BYTES, ".%s%s", name, ending);
	} else {
		(void)snprintf(suffix, SUFFIX_BYTES, ".%zu-%s%s", i, name, ending);
	}
}

/* Compiled Metal code begins with its magic, whatever format the module declares. */
static const char *metal_ending(struct msd_span code)
{
	return code.n >= 4 && memcmp(code.p, "MTLB", 4) == 0 ? ".metallib" : ".metal";
}

/* A shader's entry in the manifest, made with the splitter's own functions. */
static msd_err split_shader(struct msd_splitter *s, size_t i, struct msd_span name,
			    struct msd_span code, const char *ending, json_t *entry,
			    struct msd_diag *d)
{
	struct msd_splitter one = *s;
	char suffix[SUFFIX_BYTES];

	one.entry = entry;
	name_file(i, name, ending != NULL ? ending : metal_ending(code), suffix);
	msd_err err = msd_split_text(&one, "name", name, d);
	return err == MSD_OK ? msd_split_file(&one, "file", suffix, code, d) : err;
}

/* The words of SPIR-V and the flag before them. */
static struct msd_span take_spirv(struct msd_cur *c, json_t *entry)
{
	uint32_t flag = msd_cur_u32(c);
	size_t n = msd_cur_count64(c, sizeof(uint32_t)) * sizeof(uint32_t);
	const uint8_t *words = msd_cur_read(c, n);

	if (words == NULL ||
	    json_object_set_new(entry, "flag", json_integer(flag)) != 0)
		c->bad = true;
	return (struct msd_span){words, n};
}

/* @ending NULL: Metal's. */
static msd_err split_shaders(struct msd_splitter *s, struct msd_cur *c,
			     const char *ending, bool is_spirv, struct msd_diag *d)
{
	size_t n = msd_cur_count64(c, 2 * sizeof(uint64_t));
	json_t *list = json_array();
	msd_err err = MSD_OK;

	for (size_t i = 0; i < n && err == MSD_OK; i++) {
		json_t *entry = json_object();
		struct msd_span name = msd_cur_str64(c);
		struct msd_span code =
			is_spirv ? take_spirv(c, entry) : msd_cur_str64(c);

		err = c->bad ? msd_split_damaged(d)
			     : split_shader(s, i, name, code, ending, entry, d);
		if (json_array_append_new(list, entry) != 0 && err == MSD_OK)
			err = msd_diag_no_memory(d);
	}
	if (err == MSD_OK && c->bad)
		err = msd_split_damaged(d);
	if (err == MSD_OK)
		return msd_split_set(s, KEY_SHADERS, list, d);
	json_decref(list);
	return err;
}

static msd_err join_spirv(const struct msd_joiner *one, struct msd_buf *out,
			  struct msd_diag *d)
{
	struct msd_buf code = {0};
	json_int_t flag = json_integer_value(json_object_get(one->entry, "flag"));
	msd_err err = msd_join_read(one, "file", &code, d);

	if (err == MSD_OK && code.n % sizeof(uint32_t) != 0) {
		err = msd_diag_set(d, MSD_BAD_ARTIFACT,
				   "file: SPIR-V consists of whole words of 4 bytes");
	}
	if (err == MSD_OK) {
		msd_buf_put_u32(out, (uint32_t)flag);
		msd_buf_put_u64(out, code.n / sizeof(uint32_t));
		msd_buf_put(out, code.p, code.n);
	}
	msd_buf_finish(&code);
	return err;
}

static msd_err join_shaders(const struct msd_joiner *j, bool is_spirv,
			    struct msd_buf *out, struct msd_diag *d)
{
	const json_t *list = json_object_get(j->entry, KEY_SHADERS);
	size_t n = json_array_size(list);
	msd_err err = MSD_OK;

	if (!json_is_array(list)) {
		return msd_diag_set(d, MSD_BAD_ARTIFACT,
				    "\"" KEY_SHADERS "\" is missing or is not a list");
	}
	msd_buf_put_u64(out, n);
	for (size_t i = 0; i < n && err == MSD_OK; i++) {
		struct msd_joiner one = *j;

		one.entry = json_array_get(list, i);
		err = msd_join_text(&one, "name", out, d);
		if (err == MSD_OK) {
			err = is_spirv ? join_spirv(&one, out, d)
				       : msd_join_file(&one, "file", out, d);
		}
		if (err != MSD_OK)
			err = msd_diag_wrap(d, err, KEY_SHADERS " %zu", i);
	}
	return err;
}

static msd_err split_table(struct msd_splitter *s, struct msd_cur *c,
			   struct msd_diag *d)
{
	struct msd_kernel *kernels = NULL;
	size_t n = 0;
	msd_err err = msd_kernels_read(c, s->era, &kernels, &n, d);

	if (err == MSD_OK)
		err = msd_split_kernels(s, kernels, n, d);
	msd_kernels_free(kernels, n);
	return err;
}

static msd_err split_word(struct msd_splitter *s, const char *key, struct msd_cur *c,
			  struct msd_diag *d)
{
	struct msd_span text = msd_cur_str64(c);

	return c->bad ? msd_split_damaged(d) : msd_split_text(s, key, text, d);
}

msd_err msd_split_webgpu(struct msd_splitter *s, struct msd_cur *c, struct msd_diag *d)
{
	msd_err err = split_table(s, c, d);

	return err == MSD_OK ? split_shaders(s, c, ".wgsl", false, d) : err;
}

msd_err msd_join_webgpu(const struct msd_joiner *j, struct msd_buf *out,
			struct msd_diag *d)
{
	msd_err err = msd_join_kernels(j, out, d);

	return err == MSD_OK ? join_shaders(j, false, out, d) : err;
}

msd_err msd_split_vulkan(struct msd_splitter *s, struct msd_cur *c, struct msd_diag *d)
{
	msd_err err = split_word(s, "format", c, d);

	if (err == MSD_OK)
		err = split_table(s, c, d);
	return err == MSD_OK ? split_shaders(s, c, ".spv", true, d) : err;
}

msd_err msd_join_vulkan(const struct msd_joiner *j, struct msd_buf *out,
			struct msd_diag *d)
{
	msd_err err = msd_join_text(j, "format", out, d);

	if (err == MSD_OK)
		err = msd_join_kernels(j, out, d);
	return err == MSD_OK ? join_shaders(j, true, out, d) : err;
}

/* Version, sources, table, format: from 0.13 to 0.23. */
static msd_err split_metal_013(struct msd_splitter *s, struct msd_cur *c,
			       struct msd_diag *d)
{
	msd_err err = split_word(s, "version", c, d);

	if (err == MSD_OK)
		err = split_shaders(s, c, NULL, false, d);
	if (err == MSD_OK)
		err = split_table(s, c, d);
	return err == MSD_OK ? split_word(s, "format", c, d) : err;
}

/* A version begins with a digit, a format with a letter; the data after a format
 * differs by era: one text up to 0.12, one for each kernel since 0.24. */
msd_err msd_split_metal(struct msd_splitter *s, struct msd_cur *c, struct msd_diag *d)
{
	struct msd_cur ahead = *c;
	struct msd_span first = msd_cur_str64(&ahead);

	if (first.n > 0 && first.p[0] >= '0' && first.p[0] <= '9')
		return split_metal_013(s, c, d);
	if (s->era != MSD_ERA_FFI)
		return msd_split_device(s, c, d);
	msd_err err = split_word(s, "format", c, d);
	if (err == MSD_OK)
		err = split_table(s, c, d);
	return err == MSD_OK ? split_shaders(s, c, NULL, false, d) : err;
}

msd_err msd_join_metal(const struct msd_joiner *j, struct msd_buf *out,
		       struct msd_diag *d)
{
	bool is_versioned = json_object_get(j->entry, "version") != NULL;
	msd_err err = MSD_OK;

	if (json_object_get(j->entry, KEY_SHADERS) == NULL)
		return msd_join_device(j, out, d);
	if (is_versioned) {
		err = msd_join_text(j, "version", out, d);
		if (err == MSD_OK)
			err = join_shaders(j, false, out, d);
		if (err == MSD_OK)
			err = msd_join_kernels(j, out, d);
		return err == MSD_OK ? msd_join_text(j, "format", out, d) : err;
	}
	err = msd_join_text(j, "format", out, d);
	if (err == MSD_OK)
		err = msd_join_kernels(j, out, d);
	return err == MSD_OK ? join_shaders(j, false, out, d) : err;
}
