#include "store/build_cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/base/argv.h"
#include "proto/base/bytes.h"

/* Files that are being written; a live writer needs less time than this. */
#define NEW_PREFIX ".new-"
#define NEW_LIFE_S 3600

bool msd_build_cache_folder(char ret[static PATH_MAX])
{
	const char *own = secure_getenv("MODSERD_CACHE");
	const char *xdg = secure_getenv("XDG_CACHE_HOME");
	const char *home = secure_getenv("HOME");
	int n;

	if (own != NULL) {
		n = snprintf(ret, PATH_MAX, "%s", own);
	} else if (xdg != NULL && xdg[0] == '/') {
		n = snprintf(ret, PATH_MAX, "%s/modserd", xdg);
	} else if (home != NULL && home[0] == '/') {
		n = snprintf(ret, PATH_MAX, "%s/.cache/modserd", home);
	} else {
		return false;
	}
	/* The cache is private to the user: a relative path could point anywhere. */
	return n > 0 && n < PATH_MAX && ret[0] == '/';
}

uint64_t msd_build_cache_limit(void)
{
	const char *text = secure_getenv("MODSERD_CACHE_LIMIT");
	uint64_t bytes;

	return text != NULL && msd_argv_size(text, &bytes)
		       ? bytes
		       : MSD_BUILD_CACHE_LIMIT_BYTES;
}

static bool is_entry(const char *name)
{
	const size_t n = strlen(name);
	const size_t suffix = strlen(MSD_BUILD_CACHE_SUFFIX);

	return name[0] != '.' && n > suffix && n < MSD_BUILD_CACHE_NAME_MAX &&
	       strcmp(name + n - suffix, MSD_BUILD_CACHE_SUFFIX) == 0;
}

/* Most recently used first; ties are sorted by name. */
static int compare(const void *left, const void *right)
{
	const struct msd_build_cache *a = left;
	const struct msd_build_cache *b = right;

	if (a->used.tv_sec != b->used.tv_sec)
		return a->used.tv_sec < b->used.tv_sec ? 1 : -1;
	if (a->used.tv_nsec != b->used.tv_nsec)
		return a->used.tv_nsec < b->used.tv_nsec ? 1 : -1;
	return strcmp(a->name, b->name);
}

/* Handle a directory entry: add a cache entry to @list; with @is_tidy, remove the
 * leftover of a crashed writer. False if out of memory. */
static bool name_take(int folder, const char *name, bool is_tidy, struct msd_buf *list)
{
	struct msd_build_cache built = {0};
	struct stat st;
	const bool is_new = strncmp(name, NEW_PREFIX, strlen(NEW_PREFIX)) == 0;

	if ((!is_new && !is_entry(name)) ||
	    fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) != 0 ||
	    !S_ISREG(st.st_mode) || st.st_uid != geteuid())
		return true;
	if (is_new) {
		if (is_tidy && st.st_mtim.tv_sec < time(NULL) - NEW_LIFE_S)
			(void)unlinkat(folder, name, 0);
		return true;
	}
	(void)snprintf(built.name, sizeof(built.name), "%s", name);
	built.bytes = (uint64_t)st.st_size;
	built.used = st.st_mtim;
	msd_buf_put(list, &built, sizeof(built));
	return !list->bad;
}

static msd_err folder_read(const char *folder, bool is_tidy, struct msd_buf *list,
			   struct msd_diag *d)
{
	DIR *at = opendir(folder);
	const struct dirent *e;
	bool ok = true;

	if (at == NULL && errno == ENOENT)
		return MSD_OK;
	if (at == NULL)
		return msd_diag_set(d, MSD_IO, "%s: %s", folder, strerror(errno));
	while (ok && (e = readdir(at)) != NULL)
		ok = name_take(dirfd(at), e->d_name, is_tidy, list);
	(void)closedir(at);
	return ok ? MSD_OK : msd_diag_no_memory(d);
}

static msd_err list_read(const char *folder, bool is_tidy, struct msd_build_cache **ret,
			 size_t *ret_n, struct msd_diag *d)
{
	struct msd_buf list = {0};
	msd_err err = folder_read(folder, is_tidy, &list, d);

	if (err != MSD_OK) {
		msd_buf_finish(&list);
		return err;
	}
	*ret = (struct msd_build_cache *)(void *)list.p;
	*ret_n = list.n / sizeof(**ret);
	if (*ret_n > 0)
		qsort(*ret, *ret_n, sizeof(**ret), compare);
	return MSD_OK;
}

msd_err msd_build_cache_list(const char *folder, struct msd_build_cache **ret,
			     size_t *ret_n, struct msd_diag *d)
{
	return list_read(folder, false, ret, ret_n, d);
}

msd_err msd_build_cache_prune(const char *folder, uint64_t limit, uint64_t *ret_removed,
			      uint64_t *ret_left, struct msd_diag *d)
{
	struct msd_build_cache *list = NULL;
	char path[PATH_MAX];
	size_t n = 0;
	msd_err err = list_read(folder, true, &list, &n, d);

	if (err != MSD_OK)
		return err;
	*ret_removed = 0;
	*ret_left = 0;
	for (size_t i = 0; i < n; i++) {
		int used = snprintf(path, sizeof(path), "%s/%s", folder, list[i].name);
		/* Once an entry does not fit, evict every less recently used entry,
		 * too. */
		const bool fits = *ret_removed == 0 && list[i].bytes <= limit &&
				  *ret_left <= limit - list[i].bytes;
		if (!fits && used > 0 && used < (int)sizeof(path) &&
		    unlink(path) == 0) {
			*ret_removed += list[i].bytes;
		} else {
			*ret_left += list[i].bytes;
		}
	}
	free(list);
	return MSD_OK;
}
