#include "client/cli/build.h"

#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client/cli/file.h"

#define CC_WORDS 64            /* of the compiler's command */
#define ROW_BYTES 16u          /* of the C array's rows */
#define LARGE_BYTES (1u << 30) /* above, x86-64 wants its large sections */

extern char **environ;

static msd_err check_prefix(const char *prefix, struct msd_diag *d)
{
	for (const char *p = prefix; *p != '\0'; p++) {
		bool is_letter = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') ||
				 *p == '_';

		if (!is_letter && (p == prefix || *p < '0' || *p > '9'))
			return msd_diag_set(d, MSD_BAD_REQUEST,
					    "the symbol prefix \"%s\" is no identifier",
					    prefix);
	}
	return MSD_OK;
}

/* A constructor that tells the runtime where the blob lies. */
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
	if (b->blob.n > LARGE_BYTES)
		msd_buf_printf(out, "#ifdef __x86_64__\n"
				    "__attribute__((section(\".lrodata\")))\n#endif\n");
	msd_buf_printf(out, "const unsigned char %s%s[%zu] = {\n", b->prefix, symbol,
		       b->blob.n);
	put_bytes(b->blob, out);
	msd_buf_printf(out, "};\n");
	put_registration(b, out);
	msd_buf_printf(out, "#ifdef __cplusplus\n}\n#endif\n");
	return out->bad ? msd_diag_set(d, MSD_NOMEM, "out of memory for the C source")
			: MSD_OK;
}

/* The same where the assembler fetches the bytes: an array of a model's weights takes
 * a compiler minutes and gigabytes. */
static void put_include(const struct msd_build *b, const char *path,
			struct msd_buf *out)
{
	const char *symbol = msd_era_names(b->era)->blob;
	const char *p = b->prefix;

	msd_buf_printf(out, "extern const unsigned char %s%s[];\n__asm__(\n", p,
		       symbol);
	if (b->blob.n > LARGE_BYTES)
		msd_buf_printf(out, "#ifdef __x86_64__\n\"\\t.section .lrodata,"
				    "\\\"al\\\",@progbits\\n\"\n#else\n");
	msd_buf_printf(out, "\"\\t.section .rodata,\\\"a\\\",%%progbits\\n\"\n");
	if (b->blob.n > LARGE_BYTES)
		msd_buf_printf(out, "#endif\n");
	msd_buf_printf(out,
		       "\"\\t.globl %s%s\\n\\t.type %s%s,%%object\\n%s%s:\\n\"\n"
		       "\"\\t.incbin \\\"%s\\\"\\n\\t.size %s%s,.-%s%s\\n"
		       "\\t.previous\\n\");\n",
		       p, symbol, p, symbol, p, symbol, path, p, symbol, p, symbol);
	put_registration(b, out);
}

static msd_err run(char *const *words, struct msd_diag *d)
{
	int status = 0;
	pid_t pid;
	int error = posix_spawnp(&pid, words[0], NULL, NULL, words, environ);

	if (error != 0)
		return msd_diag_set(d, MSD_IO, "%s: %s", words[0], strerror(error));
	while (waitpid(pid, &status, 0) < 0) {
		if (errno != EINTR)
			return msd_diag_set(d, MSD_IO, "%s: %s", words[0],
					    strerror(errno));
	}
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return MSD_OK;
	return msd_diag_set(d, MSD_IO,
			    "%s failed with status %d; what it said stands "
			    "above",
			    words[0],
			    WIFEXITED(status) ? WEXITSTATUS(status)
					      : 128 + WTERMSIG(status));
}

/* @b->cc split at its blanks, then @options, then the objects and @source. */
static msd_err compile(const struct msd_build *b, const char *const *options,
		       const char *source, struct msd_diag *d)
{
	size_t most = CC_WORDS + 8 + b->n_objects + 2;
	char **words = calloc(most, sizeof(*words));
	char *cc = strdup(b->cc);
	char *state = NULL;
	size_t n = 0;
	msd_err err = MSD_OK;

	if (words == NULL || cc == NULL) {
		free(words);
		free(cc);
		return msd_diag_set(d, MSD_NOMEM, "out of memory");
	}
	for (char *w = strtok_r(cc, " ", &state); w != NULL && n < CC_WORDS;
	     w = strtok_r(NULL, " ", &state))
		words[n++] = w;
	if (n == 0 || n == CC_WORDS)
		err = msd_diag_set(d, MSD_BAD_REQUEST, "\"%s\" is no compiler", b->cc);
	/* posix_spawn() takes the words without const and leaves them alone. */
	for (size_t i = 0; options[i] != NULL; i++)
		words[n++] = (char *)(uintptr_t)options[i];
	for (size_t i = 0; i < b->n_objects; i++)
		words[n++] = b->objects[i];
	if (source != NULL)
		words[n++] = (char *)(uintptr_t)source;
	if (err == MSD_OK)
		err = run(words, d);
	free(words);
	free(cc);
	return err;
}

/* The blob and the source that includes it, in a folder of their own. */
struct scratch {
	char dir[256];
	char blob[300];
	char source[300];
};

static msd_err make_scratch(const struct msd_build *b, struct scratch *s,
			    struct msd_diag *d)
{
	const char *tmp = getenv("TMPDIR");
	struct msd_buf text = {0};
	int n = snprintf(s->dir, sizeof(s->dir), "%s/modser-XXXXXX",
			 tmp != NULL && tmp[0] != '\0' ? tmp : "/tmp");

	if (n < 0 || n >= (int)sizeof(s->dir) || strpbrk(s->dir, "\"\\\n") != NULL ||
	    mkdtemp(s->dir) == NULL)
		return msd_diag_set(d, MSD_IO,
				    "no folder for temporary files in $TMPDIR");
	(void)snprintf(s->blob, sizeof(s->blob), "%s/blob.bin", s->dir);
	(void)snprintf(s->source, sizeof(s->source), "%s/blob.c", s->dir);
	put_include(b, s->blob, &text);
	msd_err err = text.bad ? msd_diag_set(d, MSD_NOMEM, "out of memory")
			       : msd_file_write(s->blob, &b->blob, 1, d);
	if (err == MSD_OK)
		err = msd_file_write(s->source, &(struct msd_span){text.p, text.n}, 1,
				     d);
	msd_buf_finish(&text);
	return err;
}

static void drop_scratch(const struct scratch *s)
{
	(void)unlink(s->blob);
	(void)unlink(s->source);
	(void)rmdir(s->dir);
}

static msd_err build(const struct msd_build *b, const char *const *options,
		     struct msd_diag *d)
{
	struct scratch s = {0};
	msd_err err = check_prefix(b->prefix, d);

	if (err != MSD_OK)
		return err;
	if (b->blob.n == 0)
		return compile(b, options, NULL, d);
	err = make_scratch(b, &s, d);
	if (err == MSD_OK)
		err = compile(b, options, s.source, d);
	drop_scratch(&s);
	return err;
}

msd_err msd_build_library(const struct msd_build *b, const char *out,
			  struct msd_diag *d)
{
	const char *const options[] = {"-shared", "-fPIC", "-o", out, NULL};

	return build(b, options, d);
}

msd_err msd_build_object(const struct msd_build *b, const char *out, struct msd_diag *d)
{
	const char *const one[] = {"-c", "-fPIC", "-o", out, NULL};
	const char *const many[] = {"-r", "-nostdlib", "-fPIC", "-o", out, NULL};

	return build(b, b->n_objects == 0 ? one : many, d);
}
