#include "client/cli/linker.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client/cli/file.h"
#include "client/cli/header.h"

#define MAX_CC_WORDS 16u
#define MAX_SAID ((size_t)4 * 1024) /* bytes shown of what the compiler says */
#define WALK_FDS 16

extern char **environ;

static msd_err write_file(const struct msd_linker *l, const char *name,
			  struct msd_span data, struct msd_diag *d)
{
	char path[512];

	(void)snprintf(path, sizeof(path), "%s/%s", l->dir, name);
	return msd_file_write(path, &data, 1, d);
}

static bool make_dir(const struct msd_linker *l, const char *name)
{
	char path[512];

	(void)snprintf(path, sizeof(path), "%s/%s", l->dir, name);
	return mkdir(path, 0700) == 0;
}

static msd_err write_headers(const struct msd_linker *l, struct msd_diag *d)
{
	static const char *const dirs[] = {"include", "include/dlpack", "include/tvm",
					   "include/tvm/runtime",
					   "include/tvm/runtime/crt"};
	static const char *const names[] = {"dlpack/dlpack.h",
					    "tvm/runtime/c_backend_api.h",
					    "tvm/runtime/c_runtime_api.h",
					    "tvm/runtime/crt/module.h",
					    "tvm/runtime/crt/packed_func.h",
					    "tvm/runtime/crt/platform.h"};
	const struct msd_span text = {(const uint8_t *)msd_tvm_api_header,
				      strlen(msd_tvm_api_header)};
	char name[128];
	msd_err err = MSD_OK;

	for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++)
		if (!make_dir(l, dirs[i]))
			return msd_diag_set(d, MSD_IO, "%s: %s", l->dir,
					    strerror(errno));
	for (size_t i = 0; err == MSD_OK && i < sizeof(names) / sizeof(names[0]); i++) {
		(void)snprintf(name, sizeof(name), "include/%s", names[i]);
		err = write_file(l, name, text, d);
	}
	return err;
}

msd_err msd_linker_open(struct msd_linker *l, struct msd_diag *d)
{
	const char *tmp = getenv("TMPDIR");
	char path[sizeof(l->dir)];

	*l = (struct msd_linker){0};
	if (tmp == NULL || tmp[0] == '\0')
		tmp = "/tmp";
	if ((size_t)snprintf(path, sizeof(path), "%s/modser.XXXXXX", tmp) >=
	    sizeof(path))
		return msd_diag_set(d, MSD_IO, "TMPDIR: too long");
	if (mkdtemp(path) == NULL)
		return msd_diag_set(d, MSD_IO, "%s: %s", path, strerror(errno));
	(void)memcpy(l->dir, path, sizeof(path));
	return write_headers(l, d);
}

static int remove_one(const char *path, const struct stat *st, int type,
		      struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	(void)remove(path);
	return 0;
}

void msd_linker_close(struct msd_linker *l)
{
	if (l->dir[0] != '\0')
		(void)nftw(l->dir, remove_one, WALK_FDS, FTW_DEPTH | FTW_PHYS);
	msd_buf_finish(&l->words);
	*l = (struct msd_linker){0};
}

msd_err msd_linker_add(struct msd_linker *l, const char *suffix, struct msd_span data,
		       struct msd_diag *d)
{
	char name[32];

	(void)snprintf(name, sizeof(name), "piece%u%s", l->n++, suffix);
	msd_buf_put(&l->words, name, strlen(name) + 1);
	if (l->words.bad)
		return msd_diag_set(d, MSD_NOMEM, "out of memory");
	return write_file(l, name, data, d);
}

msd_err msd_linker_add_data(struct msd_linker *l, const char *symbol,
			    struct msd_span data, struct msd_diag *d)
{
	char text[1024];
	msd_err err = write_file(l, "data.bin", data, d);

	if (err != MSD_OK)
		return err;
	(void)snprintf(text, sizeof(text),
		       "\t.section .rodata\n"
		       "\t.globl %s\n"
		       "\t.type %s, %%object\n"
		       "\t.size %s, %zu\n"
		       "\t.balign 16\n"
		       "%s:\n"
		       "\t.incbin \"data.bin\"\n"
		       "\t.section .note.GNU-stack,\"\",%%progbits\n",
		       symbol, symbol, symbol, data.n, symbol);
	return msd_linker_add(
		l, ".S", (struct msd_span){(const uint8_t *)text, strlen(text)}, d);
}

/* The command: $CC's words, ours, the pieces. NULL when memory is short. */
static char **make_command(struct msd_linker *l, char *cc)
{
	static const char *const ours[] = {"-shared",   "-fPIC", "-O2",   "-w",
					   "-Iinclude", "-o",    "lib.so"};
	const size_t n_ours = sizeof(ours) / sizeof(ours[0]);
	char **words = calloc(MAX_CC_WORDS + n_ours + l->n + 2, sizeof(*words));
	char *save = NULL;
	size_t n = 0;

	if (words == NULL)
		return NULL;
	for (char *w = strtok_r(cc, " \t", &save); w != NULL && n < MAX_CC_WORDS;
	     w = strtok_r(NULL, " \t", &save))
		words[n++] = w;
	for (size_t i = 0; i < n_ours; i++)
		words[n++] = (char *)(uintptr_t)ours[i];
	for (char *at = (char *)l->words.p; at < (char *)l->words.p + l->words.n;
	     at += strlen(at) + 1)
		words[n++] = at;
	words[n++] = (char *)(uintptr_t) "-lm";
	return words;
}

/* Run @words in the linker's directory; what they say goes to the file "said". */
static int run(const struct msd_linker *l, char **words, int *ret_status)
{
	posix_spawn_file_actions_t actions;
	pid_t pid;
	int error = posix_spawn_file_actions_init(&actions);

	if (error != 0)
		return error;
	error = posix_spawn_file_actions_addchdir_np(&actions, l->dir);
	if (error == 0)
		error = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null",
							 O_RDONLY, 0);
	if (error == 0)
		error = posix_spawn_file_actions_addopen(
			&actions, 1, "said", O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (error == 0)
		error = posix_spawn_file_actions_adddup2(&actions, 1, 2);
	if (error == 0)
		error = posix_spawnp(&pid, words[0], &actions, NULL, words, environ);
	(void)posix_spawn_file_actions_destroy(&actions);
	while (error == 0 && waitpid(pid, ret_status, 0) < 0)
		if (errno != EINTR)
			return errno;
	return error;
}

/* The end of what the compiler said: there stands why it gave up. */
static msd_err failed(const struct msd_linker *l, const char *cc, struct msd_diag *d)
{
	struct msd_buf said = {0};
	char path[512];

	(void)snprintf(path, sizeof(path), "%s/said", l->dir);
	if (msd_file_read(path, &said, NULL) != MSD_OK)
		said.n = 0;
	while (said.n > 0 && said.p[said.n - 1] == '\n')
		said.n--;
	size_t from = said.n > MAX_SAID ? said.n - MAX_SAID : 0;
	msd_err err = msd_diag_set(d, MSD_BAD_ARTIFACT, "%s cannot link it: %.*s", cc,
				   (int)(said.n - from), (const char *)said.p + from);
	msd_buf_finish(&said);
	return err;
}

static msd_err link_with(struct msd_linker *l, char *cc, char **words,
			 struct msd_buf *ret, struct msd_diag *d)
{
	char path[512];
	int status = 0;
	int error = run(l, words, &status);

	if (error == ENOENT || error == EACCES ||
	    (error == 0 && WIFEXITED(status) && WEXITSTATUS(status) == 127))
		return msd_diag_set(d, MSD_UNSUPPORTED,
				    "no C compiler here to link it with (%s); on a "
				    "machine that has one: modser convert model.tar "
				    "-o deploy.so",
				    cc);
	if (error != 0)
		return msd_diag_set(d, MSD_IO, "%s: %s", cc, strerror(error));
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		return failed(l, cc, d);
	(void)snprintf(path, sizeof(path), "%s/lib.so", l->dir);
	return msd_file_read(path, ret, d);
}

msd_err msd_linker_link(struct msd_linker *l, struct msd_buf *ret, struct msd_diag *d)
{
	const char *cc = getenv("CC");
	msd_err err = MSD_NOMEM;

	if (cc == NULL || cc[strspn(cc, " \t")] == '\0')
		cc = "cc";
	char *copy = strdup(cc); /* cut into words in place */
	char **words = copy != NULL ? make_command(l, copy) : NULL;
	if (words != NULL)
		err = link_with(l, words[0], words, ret, d);
	else
		(void)msd_diag_set(d, MSD_NOMEM, "out of memory");
	free(words);
	free(copy);
	return err;
}
