/*
 * NVRTC, looked up at the first compilation of source. Several releases may be
 * installed. A release newer than the driver makes code that the driver rejects, and
 * a new release no longer supports old devices. So releases are tried from the newest
 * that the driver accepts until one supports the device. Opened libraries stay open.
 */
#include "runtime/device/cuda/nvrtc.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/device/cuda/api.h"

#define LOOKED_FOR "libnvrtc.so.13, .12, .11.2 or libnvrtc.so"
#define MAX_ARCHS 256

static const struct {
	const char *symbol;
	size_t offset;
} fields[] = {
#define NVRTC_ROW(field, symbol, arguments)                                            \
	{#symbol, offsetof(struct msd_nvrtc, field)},
	MSD_NVRTC_MAP(NVRTC_ROW)
#undef NVRTC_ROW
		{"nvrtcGetErrorString", offsetof(struct msd_nvrtc, error_string)},
};

/* Newest first; a driver of major version N runs code of release N and older. */
static const struct {
	const char *name;
	int major;
} names[] = {
	{"libnvrtc.so.13", 13},
	{"libnvrtc.so.12", 12},
	{"libnvrtc.so.11.2", 11},
	{"libnvrtc.so", 0},
};
#define N_NAMES (sizeof(names) / sizeof(names[0]))

/* One per name; written once with the lock held, then constant. */
static struct candidate {
	bool is_tried;
	bool is_there;
	struct msd_nvrtc nvrtc;
} candidates[N_NAMES];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *open_below(const char *home, const char *name)
{
	static const char *const below[] = {"lib64", "lib", "targets/x86_64-linux/lib",
					    "targets/sbsa-linux/lib"};
	void *library = NULL;
	char path[PATH_MAX];

	for (size_t i = 0; i < 4 && library == NULL; i++) {
		int n = snprintf(path, sizeof(path), "%s/%s/%s", home, below[i], name);
		if (n > 0 && n < (int)sizeof(path) && access(path, R_OK) == 0)
			library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	}
	return library;
}

/* $MODSERD_LIBNVRTC replaces the first name and hides the other names. */
static const char *own_path(void)
{
	const char *own = secure_getenv("MODSERD_LIBNVRTC");

	return own != NULL && own[0] != '\0' ? own : NULL;
}

/* Newer than the driver, which rejects its code. A library that the user named is
 * used in any case. */
static bool is_too_new(int major)
{
	const int driver = msd_cuda_driver_major();

	return own_path() == NULL && driver != 0 && major > driver;
}

static void *library_open(size_t i)
{
	const char *own = own_path();
	const char *home = msd_cuda_home();

	if (own != NULL)
		return i == 0 ? dlopen(own, RTLD_NOW | RTLD_LOCAL) : NULL;
	if (is_too_new(names[i].major))
		return NULL;
	void *library = dlopen(names[i].name, RTLD_NOW | RTLD_LOCAL);
	return library == NULL && home != NULL ? open_below(home, names[i].name)
					       : library;
}

static void path_of(void *library, char ret[static PATH_MAX])
{
	const struct link_map *map = NULL;

	ret[0] = '\0';
	if (dlinfo(library, RTLD_DI_LINKMAP, &map) == 0 && map != NULL)
		(void)snprintf(ret, PATH_MAX, "%s", map->l_name);
}

/* False: it does not exist, or is older than 11.2, which has no cubins. */
static bool candidate_open(struct candidate *c, size_t i)
{
	int major = 0;
	int minor = 0;
	void *library = library_open(i);

	if (library == NULL)
		return false;
	for (size_t k = 0; k < sizeof(fields) / sizeof(fields[0]); k++) {
		void *symbol = dlsym(library, fields[k].symbol);
		if (symbol == NULL)
			return false;
		memcpy((char *)&c->nvrtc + fields[k].offset, &symbol, sizeof(symbol));
	}
	if (c->nvrtc.get_version(&major, &minor) != MSD_NVRTC_SUCCESS)
		return false;
	if (is_too_new(major)) /* the name without a version may be any release */
		return false;
	c->nvrtc.version = 1000 * major + 10 * minor;
	path_of(library, c->nvrtc.path);
	c->nvrtc.has_headers = msd_toolkit_headers_find(c->nvrtc.path, c->nvrtc.version,
							&c->nvrtc.headers);
	return true;
}

/* The newest architecture that it supports up to @capability; 0: none. */
static int arch_known(const struct msd_nvrtc *nvrtc, int capability)
{
	int archs[MAX_ARCHS];
	int n = 0;
	int best = 0;

	if (nvrtc->n_archs(&n) != MSD_NVRTC_SUCCESS || n <= 0 || n > MAX_ARCHS ||
	    nvrtc->archs(archs) != MSD_NVRTC_SUCCESS)
		return 0;
	for (int i = 0; i < n; i++) {
		if (archs[i] <= capability && archs[i] > best)
			best = archs[i];
	}
	return best;
}

static const struct msd_nvrtc *absent(bool is_any_there, int capability,
				      struct msd_diag *d)
{
	const char *own = own_path();
	const char *home = msd_cuda_home();

	if (is_any_there) {
		(void)msd_diag_set(d, MSD_UNSUPPORTED,
				   "NVRTC knows no architecture up to sm_%d",
				   capability);
		return NULL;
	}
	(void)msd_diag_set(d, MSD_UNSUPPORTED,
			   "the module has CUDA source, but no NVRTC of 11.2 or later "
			   "was found to compile it: looked for %s%s%s. Install the "
			   "CUDA toolkit, or export the module on a machine with a GPU",
			   own != NULL ? own : LOOKED_FOR " in the library path",
			   own == NULL && home != NULL ? " and below " : "",
			   own == NULL && home != NULL ? home : "");
	return NULL;
}

const struct msd_nvrtc *msd_nvrtc(int capability, int *ret_arch, struct msd_diag *d)
{
	const struct msd_nvrtc *best = NULL;
	bool is_any_there = false;

	*ret_arch = 0;
	(void)pthread_mutex_lock(&lock);
	for (size_t i = 0; i < N_NAMES && *ret_arch != capability; i++) {
		struct candidate *c = &candidates[i];
		if (!c->is_tried)
			c->is_there = candidate_open(c, i);
		c->is_tried = true;
		if (!c->is_there)
			continue;
		is_any_there = true;
		const int arch = arch_known(&c->nvrtc, capability);
		if (arch > *ret_arch) {
			*ret_arch = arch;
			best = &c->nvrtc;
		}
	}
	(void)pthread_mutex_unlock(&lock);
	return best != NULL ? best : absent(is_any_there, capability, d);
}
