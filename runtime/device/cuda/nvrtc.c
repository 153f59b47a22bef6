#include "runtime/device/cuda/nvrtc.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/device/cuda/api.h"

#define LOOKED_FOR "libnvrtc.so.13, .12, .11.2 or libnvrtc.so"

static struct msd_nvrtc nvrtc;
static char absent[512]; /* empty: it is there */
static pthread_once_t once = PTHREAD_ONCE_INIT;

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

/* Newest first; a driver of major version N runs what N and older have made. */
static const struct {
	const char *name;
	int major;
} names[] = {
	{"libnvrtc.so.13", 13},
	{"libnvrtc.so.12", 12},
	{"libnvrtc.so.11.2", 11},
	{"libnvrtc.so", 0},
};

const char *msd_cuda_home(void)
{
	const char *const candidates[] = {secure_getenv("CUDA_HOME"),
					  secure_getenv("CUDA_PATH"),
					  "/usr/local/cuda"};
	const size_t n = sizeof(candidates) / sizeof(candidates[0]);

	for (size_t i = 0; i < n; i++) {
		if (candidates[i] != NULL && candidates[i][0] == '/' &&
		    access(candidates[i], R_OK | X_OK) == 0)
			return candidates[i];
	}
	return NULL;
}

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

static void *library_open(void)
{
	const char *own = secure_getenv("MODSERD_LIBNVRTC");
	const char *home = msd_cuda_home();
	const int driver = msd_cuda_driver_major();
	void *library = NULL;

	if (own != NULL && own[0] != '\0')
		return dlopen(own, RTLD_NOW | RTLD_LOCAL);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (driver != 0 && names[i].major > driver)
			continue;
		library = dlopen(names[i].name, RTLD_NOW | RTLD_LOCAL);
		if (library == NULL && home != NULL)
			library = open_below(home, names[i].name);
		if (library != NULL)
			break;
	}
	return library;
}

static void load(void)
{
	void *library = library_open();

	if (library == NULL) {
		const char *home = msd_cuda_home();
		(void)snprintf(absent, sizeof(absent),
			       "the module has CUDA source, and there is no NVRTC to "
			       "compile it: looked for " LOOKED_FOR
			       " in the library path%s%s. Install the CUDA toolkit, or "
			       "export the module on a machine with a GPU",
			       home != NULL ? " and below " : "",
			       home != NULL ? home : "");
		return;
	}
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		void *symbol = dlsym(library, fields[i].symbol);
		if (symbol == NULL) {
			(void)snprintf(absent, sizeof(absent),
				       "NVRTC has no %s: 11.2 or later is needed",
				       fields[i].symbol);
			return;
		}
		memcpy((char *)&nvrtc + fields[i].offset, &symbol, sizeof(symbol));
	}
}

const struct msd_nvrtc *msd_nvrtc(struct msd_diag *d)
{
	(void)pthread_once(&once, load);
	if (absent[0] == '\0')
		return &nvrtc;
	(void)msd_diag_set(d, MSD_UNSUPPORTED, "%s", absent);
	return NULL;
}
