#include "client/cli/doctor/system.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "artifact/elf/search.h"
#include "artifact/provides/provides.h"
#include "client/cli/values/file.h"

#define MAX_LIBRARY_BYTES ((off_t)512 << 20) /* larger libraries are skipped */

/* Including Debian's multiarch directory. */
static const char *const directories[] = {
#if defined(__x86_64__)
	"/lib/x86_64-linux-gnu",
	"/usr/lib/x86_64-linux-gnu",
#elif defined(__aarch64__)
	"/lib/aarch64-linux-gnu",
	"/usr/lib/aarch64-linux-gnu",
#elif defined(__riscv)
	"/lib/riscv64-linux-gnu",
	"/usr/lib/riscv64-linux-gnu",
#endif
	"/lib64",
	"/usr/lib64",
	"/lib",
	"/usr/lib",
	"/usr/local/lib",
};

/* The @i-th possible path of library @name: first the search path of the library that
 * needs it, then the loader's default directories. */
static bool next_place(const char *search_path, const char *name, size_t i,
		       char out[static MSD_SEARCH_MAX])
{
	size_t n_own = 0;

	if (msd_search_place(search_path, name, i, out))
		return true;
	while (msd_search_place(search_path, name, n_own, out))
		n_own++;
	if (strchr(name, '/') != NULL ||
	    i - n_own >= sizeof(directories) / sizeof(*directories))
		return false;
	(void)snprintf(out, MSD_SEARCH_MAX, "%s/%s", directories[i - n_own], name);
	return true;
}

/* Add the library @name as a new entry; nothing if it does not exist. */
static msd_err add(struct msd_system *s, const char *search_path, const char *name,
		   struct msd_diag *d)
{
	struct msd_system_library *l = &s->libraries[s->n];
	char path[MSD_SEARCH_MAX];
	struct stat st;

	if (msd_system_path(s, name) != NULL || msd_provides_library(name))
		return MSD_OK;
	for (size_t i = 0; next_place(search_path, name, i, path); i++) {
		if (stat(path, &st) != 0 || !S_ISREG(st.st_mode) ||
		    st.st_size > MAX_LIBRARY_BYTES)
			continue;
		if (msd_file_read(path, &l->file, NULL) == MSD_OK &&
		    msd_elf_read((struct msd_span){l->file.p, l->file.n}, &l->elf,
				 NULL) == MSD_OK &&
		    msd_elf_check_host(&l->elf, NULL) == MSD_OK) {
			l->name = strdup(name);
			l->path = realpath(path, NULL);
			if (l->name != NULL && l->path != NULL) {
				s->n++;
				return MSD_OK;
			}
			free(l->name);
			free(l->path);
			msd_elf_finish(&l->elf);
			msd_buf_finish(&l->file);
			return msd_diag_no_memory(d);
		}
		msd_elf_finish(&l->elf);
		msd_buf_finish(&l->file);
	}
	return MSD_OK;
}

msd_err msd_system_read(const struct msd_inspect *i, struct msd_system *ret,
			struct msd_diag *d)
{
	static const char *const always[] = {"libc.so.6", "libm.so.6"};
	const size_t n_always = sizeof(always) / sizeof(*always);
	msd_err err = MSD_OK;

	*ret = (struct msd_system){0};
	ret->libraries = calloc(i->n_needed + n_always, sizeof(*ret->libraries));
	if (ret->libraries == NULL)
		return msd_diag_no_memory(d);
	for (size_t k = 0; err == MSD_OK && k < n_always; k++)
		err = add(ret, NULL, always[k], d);
	for (size_t k = 0; err == MSD_OK && k < i->n_needed; k++)
		err = add(ret, i->search_path, i->needed[k], d);
	return err;
}

const char *msd_system_find(void *ctx, const char *symbol)
{
	const struct msd_system *s = ctx;

	for (size_t i = 0; i < s->n; i++) {
		if (msd_elf_find(&s->libraries[i].elf, symbol) != NULL)
			return s->libraries[i].name;
	}
	return NULL;
}

const char *msd_system_path(const struct msd_system *s, const char *library)
{
	for (size_t i = 0; i < s->n; i++) {
		if (s->libraries[i].name != NULL &&
		    strcmp(s->libraries[i].name, library) == 0)
			return s->libraries[i].path;
	}
	return NULL;
}

void msd_system_finish(struct msd_system *s)
{
	for (size_t i = 0; i < s->n; i++) {
		free(s->libraries[i].name);
		free(s->libraries[i].path);
		msd_elf_finish(&s->libraries[i].elf);
		msd_buf_finish(&s->libraries[i].file);
	}
	free(s->libraries);
	*s = (struct msd_system){0};
}
