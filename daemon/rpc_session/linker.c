/*
 * Happy path: each object becomes a memfd, which the linker opens through /proc; it
 * writes another one. Failures: without a linker the error names binutils; else the
 * linker's output is the error's text.
 */
#include "daemon/rpc_session/linker.h"

#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/rpc_session/tar.h"
#include "proto/base/errno_text.h"

#define ELF_HEAD_BYTES 20u
#define AT_ELF_TYPE 16u
#define ELF_TYPE_OBJECT 1u
#define ELF_TYPE_LIBRARY 3u
#define FREE_BYTES ((uint64_t)64 << 20) /* that any packed archive may have */
#define MOST_RATIO 64u
#define MOST_WORDS_BYTES 400u
#define PATH_BYTES 32u

struct linking {
	int objects[MSD_RPC_MAX_OBJECTS];
	unsigned n;
	int library, words; /* memfds; words: the output of the linker */
};

static bool is_elf(struct msd_span bytes, uint16_t type)
{
	return bytes.n >= ELF_HEAD_BYTES &&
	       memcmp(bytes.p,
		      "\x7f"
		      "ELF",
		      4) == 0 &&
	       msd_le16(bytes.p + AT_ELF_TYPE) == type;
}

static bool is_object(struct msd_span bytes)
{
	return is_elf(bytes, ELF_TYPE_OBJECT);
}

bool msd_rpc_linker_made(struct msd_span bytes)
{
	return is_elf(bytes, ELF_TYPE_LIBRARY);
}

static bool is_gzip(struct msd_span bytes)
{
	return bytes.n > 2 && bytes.p[0] == 0x1f && bytes.p[1] == 0x8b;
}

bool msd_rpc_linker_wants(struct msd_span bytes)
{
	return is_object(bytes) || msd_rpc_tar_is(bytes) || is_gzip(bytes);
}

static msd_err make_file(const char *name, struct msd_span bytes, int *ret,
			 struct msd_diag *d)
{
	char text[MSD_ERRNO_TEXT_BYTES];

	*ret = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	while (*ret >= 0 && bytes.n > 0) {
		const ssize_t n = write(*ret, bytes.p, bytes.n);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		bytes.p += n;
		bytes.n -= (size_t)n;
	}
	if (*ret >= 0 && bytes.n == 0)
		return MSD_OK;
	return msd_diag_set(d, MSD_IO, "%s for the linker: %s", name,
			    msd_errno_text(errno, text));
}

static msd_err add_object(struct linking *l, struct msd_span bytes, struct msd_diag *d)
{
	if (!is_object(bytes)) {
		return msd_diag_set(d, MSD_UNSUPPORTED,
				    "a file of the archive is no object: a session "
				    "links objects, and compiles no source");
	}
	if (l->n == MSD_RPC_MAX_OBJECTS) {
		return msd_diag_set(d, MSD_UNSUPPORTED,
				    "the archive has more than %u objects",
				    MSD_RPC_MAX_OBJECTS);
	}
	return make_file("object", bytes, &l->objects[l->n++], d);
}

static msd_err add_all(struct linking *l, struct msd_span bytes, struct msd_diag *d)
{
	struct msd_span object;
	msd_err err;

	if (is_object(bytes))
		return add_object(l, bytes, d);
	err = msd_rpc_tar_next(&bytes, &object, d);
	while (err == MSD_OK && object.p != NULL) {
		err = add_object(l, object, d);
		if (err == MSD_OK)
			err = msd_rpc_tar_next(&bytes, &object, d);
	}
	if (err == MSD_OK && l->n == 0) {
		err = msd_diag_set(d, MSD_BAD_ARTIFACT,
				   "the archive has no object to link");
	}
	return err;
}

/* A program that the session starts, with its descriptors from 0 on. */
struct tool {
	char *argv[MSD_RPC_MAX_OBJECTS + 5];
	int fds[MSD_RPC_MAX_OBJECTS + 4];
	int n_fds;
};

/* Returns 0, or an errno. */
static int spawn(const struct tool *t, pid_t *ret)
{
	posix_spawn_file_actions_t actions;
	int error = posix_spawn_file_actions_init(&actions);

	if (error != 0)
		return error;
	for (int i = 0; i < t->n_fds && error == 0; i++) {
		if (t->fds[i] >= 0) {
			error = posix_spawn_file_actions_adddup2(&actions, t->fds[i],
								 i);
		}
	}
	if (error == 0)
		error = posix_spawnp(ret, t->argv[0], &actions, NULL, t->argv, environ);
	(void)posix_spawn_file_actions_destroy(&actions);
	return error;
}

static msd_err refuse(const char *name, int words, int status, struct msd_diag *d)
{
	char text[MOST_WORDS_BYTES + 1];
	const ssize_t n = pread(words, text, MOST_WORDS_BYTES, 0);

	text[n > 0 ? n : 0] = '\0';
	if (WIFSIGNALED(status)) {
		return msd_diag_set(d, MSD_BAD_ARTIFACT, "%s died of signal %d: %s",
				    name, WTERMSIG(status), text);
	}
	return msd_diag_set(d, MSD_BAD_ARTIFACT, "%s failed: %s", name, text);
}

static msd_err run(const struct tool *t, int words, const char *package,
		   struct msd_diag *d)
{
	char text[MSD_ERRNO_TEXT_BYTES];
	pid_t pid;
	int status;
	const int error = spawn(t, &pid);

	if (error != 0) {
		return msd_diag_set(d, MSD_NOT_FOUND,
				    "%s: %s: install %s, or upload a shared library",
				    t->argv[0], msd_errno_text(error, text), package);
	}
	while (waitpid(pid, &status, 0) < 0) {
		if (errno != EINTR) {
			return msd_diag_set(d, MSD_IO, "%s: its end is unknown",
					    t->argv[0]);
		}
	}
	return status == 0 ? MSD_OK : refuse(t->argv[0], words, status, d);
}

static msd_err link_objects(const struct linking *l, struct msd_diag *d)
{
	char paths[MSD_RPC_MAX_OBJECTS][PATH_BYTES];
	struct tool t = {.argv = {(char *)(uintptr_t) "ld",
				  (char *)(uintptr_t) "-shared",
				  (char *)(uintptr_t) "-o",
				  (char *)(uintptr_t) "/proc/self/fd/3"},
			 .fds = {-1, l->words, l->words, l->library},
			 .n_fds = 4 + (int)l->n};

	for (unsigned i = 0; i < l->n; i++) {
		t.fds[4 + i] = l->objects[i];
		(void)snprintf(paths[i], PATH_BYTES, "/proc/self/fd/%u", 4 + i);
		t.argv[4 + i] = paths[i];
	}
	return run(&t, l->words, "binutils", d);
}

/* A few bytes can be packed gigabytes: the child may write only so many. */
static msd_err run_limited(const struct tool *t, int words, uint64_t most,
			   struct msd_diag *d)
{
	struct rlimit before, limit;

	(void)getrlimit(RLIMIT_FSIZE, &before);
	limit = before;
	if (limit.rlim_cur > most)
		limit.rlim_cur = most;
	(void)setrlimit(RLIMIT_FSIZE, &limit);
	const msd_err err = run(t, words, "gzip", d);
	(void)setrlimit(RLIMIT_FSIZE, &before);
	return err;
}

/* TVM packs its archives. *@ret is a map that the caller unmaps. */
static msd_err unpack(const struct linking *l, struct msd_span bytes,
		      struct msd_span *ret, struct msd_diag *d)
{
	int from = -1, to = -1;
	struct stat st = {0};
	void *map = MAP_FAILED;
	msd_err err = make_file("packed", bytes, &from, d);

	if (err == MSD_OK)
		err = make_file("unpacked", (struct msd_span){0}, &to, d);
	if (err == MSD_OK) {
		const struct tool t = {
			.argv = {(char *)(uintptr_t) "gzip", (char *)(uintptr_t) "-dc"},
			.fds = {from, to, l->words},
			.n_fds = 3};
		(void)lseek(from, 0, SEEK_SET);
		err = run_limited(&t, l->words, FREE_BYTES + MOST_RATIO * bytes.n, d);
	}
	if (err == MSD_OK && fstat(to, &st) == 0 && st.st_size > 0) {
		map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, to, 0);
		if (map == MAP_FAILED)
			err = msd_diag_no_memory(d);
	}
	if (err == MSD_OK && map != MAP_FAILED)
		*ret = (struct msd_span){map, (size_t)st.st_size};
	if (from >= 0)
		(void)close(from);
	if (to >= 0)
		(void)close(to);
	return err;
}

static void close_all(const struct linking *l)
{
	for (unsigned i = 0; i < l->n; i++) {
		if (l->objects[i] >= 0)
			(void)close(l->objects[i]);
	}
	if (l->words >= 0)
		(void)close(l->words);
	if (l->library >= 0)
		(void)close(l->library);
}

static msd_err add_packed(struct linking *l, struct msd_span bytes, struct msd_diag *d)
{
	struct msd_span map = {0};
	msd_err err = unpack(l, bytes, &map, d);

	if (err == MSD_OK && !msd_rpc_tar_is(map)) {
		err = msd_diag_set(d, MSD_BAD_ARTIFACT,
				   "the gzipped file is no tar archive");
	}
	if (err == MSD_OK)
		err = add_all(l, map, d);
	if (map.p != NULL)
		(void)munmap((void *)(uintptr_t)map.p, map.n);
	return err;
}

msd_err msd_rpc_linker_run(struct msd_span bytes, int *ret, struct msd_diag *d)
{
	struct linking l = {.library = -1, .words = -1};
	msd_err err = make_file("words", (struct msd_span){0}, &l.words, d);

	if (err == MSD_OK)
		err = make_file("library", (struct msd_span){0}, &l.library, d);
	if (err == MSD_OK)
		err = is_gzip(bytes) ? add_packed(&l, bytes, d) : add_all(&l, bytes, d);
	if (err == MSD_OK)
		err = link_objects(&l, d);
	if (err == MSD_OK) {
		*ret = l.library;
		l.library = -1;
	}
	close_all(&l);
	return err;
}
