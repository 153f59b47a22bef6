/*
 * Happy path: the blob is written to a file, and a short C source includes it as
 * bytes under the symbol that this TVM release looks for. The compiler makes an
 * object from it, or a library together with the host objects.
 */
#include "client/build/build.h"

#include <stdio.h>
#include <string.h>

#include "client/build/confine.h"
#include "client/build/headers.h"

#define ROW_BYTES 16u          /* bytes a row of the C array */
#define LARGE_BYTES (1u << 30) /* a larger blob needs x86-64's large sections */

static bool is_large(const struct msd_build *b)
{
	return b->blob.n > (b->large_bytes > 0 ? b->large_bytes : LARGE_BYTES);
}

static msd_err check_prefix(const char *prefix, struct msd_diag *d)
{
	for (const char *p = prefix; *p != '\0'; p++) {
		bool is_letter = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') ||
				 *p == '_';

		if (!is_letter && (p == prefix || *p < '0' || *p > '9')) {
			return msd_diag_set(
				d, MSD_BAD_REQUEST,
				"the symbol prefix \"%s\" is not a C identifier",
				prefix);
		}
	}
	return MSD_OK;
}

/* Append a constructor that gives the blob's address to the runtime. */
static void put_registration(const struct msd_build *b, struct msd_buf *out)
{
	const char *symbol = msd_era_names(b->era)->blob;
	const char *call = b->era == MSD_ERA_CLASSIC
				   ? "TVMBackendRegisterSystemLibSymbol"
				   : "TVMFFIEnvModRegisterSystemLibSymbol";

	if (!b->is_system_library)
		return;
	msd_buf_printf(out,
		       "extern int %s(const char *name, void *address);\n"
		       "__attribute__((constructor)) static void register_blob(void)\n"
		       "{\n\t(void)%s(\"%s%s\", (void *)%s%s);\n}\n",
		       call, call, b->prefix, symbol, b->prefix, symbol);
}

static void put_bytes(struct msd_span bytes, struct msd_buf *out)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < bytes.n; i++) {
		char text[] = {'0', 'x', digits[bytes.p[i] >> 4],
			       digits[bytes.p[i] & 15], ','};

		msd_buf_put(out, text, sizeof(text));
		if (i % ROW_BYTES == ROW_BYTES - 1)
			msd_buf_put_u8(out, '\n');
	}
}

msd_err msd_build_source(const struct msd_build *b, struct msd_buf *out,
			 struct msd_diag *d)
{
	const char *symbol = msd_era_names(b->era)->blob;
	msd_err err = check_prefix(b->prefix, d);

	if (err != MSD_OK)
		return err;
	msd_buf_printf(out,
		       "#ifdef __cplusplus\nextern \"C\" {\n#endif\n"
		       "extern const unsigned char %s%s[];\n",
		       b->prefix, symbol);
	if (is_large(b)) {
		msd_buf_printf(out, "#ifdef __x86_64__\n"
				    "__attribute__((section(\".lrodata\")))\n#endif\n");
	}
	msd_buf_printf(out, "const unsigned char %s%s[%zu] = {\n", b->prefix, symbol,
		       b->blob.n);
	put_bytes(b->blob, out);
	msd_buf_printf(out, "};\n");
	put_registration(b, out);
	msd_buf_printf(out, "#ifdef __cplusplus\n}\n#endif\n");
	return out->bad ? msd_diag_set(d, MSD_NOMEM, "out of memory for the C source")
			: MSD_OK;
}

/* The same, but the assembler includes the bytes: a C array of a model's weights
 * takes a compiler minutes and gigabytes. */
static void put_include(const struct msd_build *b, const char *path,
			struct msd_buf *out)
{
	const char *symbol = msd_era_names(b->era)->blob;
	const char *p = b->prefix;

	msd_buf_printf(out, "extern const unsigned char %s%s[];\n__asm__(\n", p,
		       symbol);
	if (is_large(b)) {
		msd_buf_printf(out, "#ifdef __x86_64__\n\"\\t.section .lrodata,"
				    "\\\"al\\\",@progbits\\n\"\n#else\n");
	}
	msd_buf_printf(out, "\"\\t.section .rodata,\\\"a\\\",%%progbits\\n\"\n");
	if (is_large(b))
		msd_buf_printf(out, "#endif\n");
	msd_buf_printf(out,
		       "\"\\t.globl %s%s\\n\\t.type %s%s,%%object\\n%s%s:\\n\"\n"
		       "\"\\t.incbin \\\"%s\\\"\\n\\t.size %s%s,.-%s%s\\n"
		       "\\t.previous\\n\");\n",
		       p, symbol, p, symbol, p, symbol, path, p, symbol, p, symbol);
	put_registration(b, out);
}

msd_err msd_build_add_blob(const struct msd_build *b, struct msd_compiler *c,
			   struct msd_diag *d)
{
	char path[sizeof(c->dir) + 16];
	struct msd_buf text = {0};

	(void)snprintf(path, sizeof(path), "%s/blob.bin", c->dir);
	put_include(b, path, &text);
	msd_err err = text.bad ? msd_diag_no_memory(d)
			       : msd_compiler_write(c, "blob.bin", b->blob, d);
	if (err == MSD_OK) {
		err = msd_compiler_write(c, "blob.c", (struct msd_span){text.p, text.n},
					 d);
	}
	msd_buf_finish(&text);
	msd_compiler_add_file(c, "", "blob.c");
	return err;
}

static bool has_sources(const struct msd_build *b)
{
	for (size_t i = 0; i < b->n_objects; i++) {
		const size_t n = strlen(b->objects[i]);

		if (n > 2 && strcmp(b->objects[i] + n - 2, ".c") == 0)
			return true;
	}
	return false;
}

static msd_err build(const struct msd_build *b, const char *const *options,
		     const char *const *libraries, const char *out, struct msd_diag *d)
{
	struct msd_compiler c = {.is_confined =
					 b->folder != NULL && !msd_confine_is_off(),
				 .folder = b->folder,
				 .files = b->objects,
				 .n_files = b->n_objects};
	msd_err err = check_prefix(b->prefix, d);

	if (err != MSD_OK)
		return err;
	err = msd_compiler_open(&c, d);
	if (err == MSD_OK && has_sources(b))
		err = msd_headers_write(&c, d);
	for (size_t i = 0; options[i] != NULL; i++)
		msd_compiler_add(&c, options[i]);
	msd_compiler_add(&c, "-o");
	msd_compiler_add_file(&c, "", "out");
	for (size_t i = 0; i < b->n_objects; i++)
		msd_compiler_add(&c, b->objects[i]);
	if (err == MSD_OK && b->blob.n > 0)
		err = msd_build_add_blob(b, &c, d);
	for (size_t i = 0; i < b->n_libraries; i++)
		msd_compiler_add_library(&c, b->libraries[i]);
	for (size_t i = 0; b->n_objects > 0 && libraries[i] != NULL; i++)
		msd_compiler_add(&c, libraries[i]);
	if (err == MSD_OK)
		err = msd_compiler_run(&c, b->cc, d);
	if (err == MSD_OK)
		err = msd_compiler_move(&c, "out", out, d);
	msd_compiler_close(&c);
	return err;
}

msd_err msd_build_library(const struct msd_build *b, const char *out,
			  struct msd_diag *d)
{
	static const char *const options[] = {"-shared", "-fPIC", NULL};
	/* Libraries that TVM's code may call without naming them. */
	static const char *const libraries[] = {"-Wl,--as-needed", "-lm", NULL};

	return build(b, options, libraries, out, d);
}

msd_err msd_build_object(const struct msd_build *b, const char *out, struct msd_diag *d)
{
	static const char *const one[] = {"-c", "-fPIC", NULL};
	static const char *const many[] = {"-r", "-nostdlib", "-fPIC", NULL};

	static const char *const none[] = {NULL};

	return build(b, b->n_objects == 0 ? one : many, none, out, d);
}
