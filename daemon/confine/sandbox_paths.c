/*
 * Happy path: collects the table's rows of the profile, directories from environment
 * variables, driver caches, existing devices, and the paths of the daemon's options.
 * Failures: a path that is too long or does not exist gets no rule.
 */
#include "daemon/confine/sandbox_paths.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/value.h"
#include "store/build_cache.h"

#define MAX_CARDS 64u /* NVIDIA cards in one machine */

enum {
	CPU = 1 << MSD_SANDBOX_CPU,
	OPENCL = 1 << MSD_SANDBOX_OPENCL,
	CUDA = 1 << MSD_SANDBOX_CUDA,
	DEVICES = OPENCL | CUDA,
	ALL = CPU | DEVICES
};

/*
 * In /etc only files that loaders and C libraries read; other files may hold secrets.
 */
static const struct {
	const char *path;
	enum msd_landlock_reach reach;
	unsigned profiles;
} places[] = {
	{"/usr", MSD_REACH_RUN, ALL},
	{"/lib", MSD_REACH_RUN, ALL},
	{"/lib32", MSD_REACH_RUN, ALL},
	{"/lib64", MSD_REACH_RUN, ALL},
	{"/bin", MSD_REACH_RUN, ALL},
	{"/sbin", MSD_REACH_RUN, ALL},
	{"/opt", MSD_REACH_RUN, ALL},
	{"/etc/ld.so.cache", MSD_REACH_READ, ALL},
	{"/etc/ld.so.preload", MSD_REACH_READ, ALL},
	{"/etc/localtime", MSD_REACH_READ, ALL},
	{"/etc/nsswitch.conf", MSD_REACH_READ, ALL},
	{"/etc/passwd", MSD_REACH_READ, ALL},
	{"/etc/group", MSD_REACH_READ, ALL},
	{"/proc", MSD_REACH_READ, ALL},
	{"/sys", MSD_REACH_READ, ALL},
	{"/dev/null", MSD_REACH_USE, ALL},
	{"/dev/zero", MSD_REACH_USE, ALL},
	{"/dev/full", MSD_REACH_USE, ALL},
	{"/dev/random", MSD_REACH_READ, ALL},
	{"/dev/urandom", MSD_REACH_READ, ALL},
	{"/etc/OpenCL", MSD_REACH_READ, OPENCL},
	{"/dev/dri", MSD_REACH_USE, OPENCL},
	{"/dev/kfd", MSD_REACH_USE, OPENCL},
	{MSD_PLACE_NVIDIA, MSD_REACH_USE, DEVICES},
	{"/dev/nvidia-uvm", MSD_REACH_USE, DEVICES},
	{"/dev/nvidia-uvm-tools", MSD_REACH_USE, DEVICES},
	{"/dev/nvidia-modeset", MSD_REACH_USE, DEVICES},
	{"/dev/nvidia-caps", MSD_REACH_USE, DEVICES},
	{"/dev/nvidia-caps-imex-channels", MSD_REACH_USE, DEVICES},
	{"/dev/nvidia-nvswitchctl", MSD_REACH_USE, DEVICES},
	{"/dev/mali0", MSD_REACH_USE, OPENCL},
	{"/proc/self", MSD_REACH_USE, DEVICES}, /* drivers name their threads */
};

/* Variables that name library paths; a module does not need any other ones. */
static const struct {
	const char *name;
	bool is_file; /* its directory contains its dependencies */
} variables[] = {
	{"LD_LIBRARY_PATH", false},  {"CUDA_HOME", false},
	{"CUDA_PATH", false},        {"OCL_ICD_VENDORS", false},
	{"OCL_ICD_FILENAMES", true}, {"MODSERD_LIBOPENCL", true},
	{"MODSERD_LIBCUDA", true},   {"MODSERD_LIBNVRTC", true},
};

/* Driver caches: the directory that a variable names, otherwise one below another.
 * NVIDIA's OpenCL driver uses that of CUDA. */
static const struct {
	const char *own, *base, *below;
	unsigned profiles;
	const char *where; /* needed if this path exists; NULL: always */
} caches[] = {
	{"POCL_CACHE_DIR", "XDG_CACHE_HOME", "pocl", OPENCL, NULL},
	{"POCL_CACHE_DIR", "HOME", ".cache/pocl", OPENCL, NULL},
	{"CUDA_CACHE_PATH", "HOME", ".nv", CUDA, NULL},
	{"CUDA_CACHE_PATH", "HOME", ".nv", OPENCL, MSD_PLACE_NVIDIA},
};

static void tell(const struct msd_sandbox_paths_visitor *v, const char *path,
		 enum msd_landlock_reach reach)
{
	v->visit(v->ctx, path, reach);
}

struct adding {
	const struct msd_sandbox_paths_visitor *v;
	unsigned profiles;
};

static void allow_folder_of(const struct msd_sandbox_paths_visitor *v, const char *path)
{
	char folder[PATH_MAX];
	const char *slash = strrchr(path, '/');

	if (slash == NULL || slash == path || slash - path >= PATH_MAX)
		return;
	(void)snprintf(folder, sizeof(folder), "%.*s", (int)(slash - path), path);
	tell(v, folder, MSD_REACH_RUN);
}

/* Parse a list like LD_LIBRARY_PATH. Relative paths are ignored. */
static void allow_list(const struct msd_sandbox_paths_visitor *v, const char *list,
		       bool are_files)
{
	char path[PATH_MAX];

	while (*list != '\0') {
		const size_t n = strcspn(list, ":;");

		if (n > 0 && n < sizeof(path) && *list == '/') {
			(void)snprintf(path, sizeof(path), "%.*s", (int)n, list);
			if (are_files) {
				allow_folder_of(v, path);
			} else {
				tell(v, path, MSD_REACH_RUN);
			}
		}
		list += n + (list[n] != '\0');
	}
}

static void allow_variables(const struct msd_sandbox_paths_visitor *v)
{
	for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
		const char *list = secure_getenv(variables[i].name);

		if (list != NULL)
			allow_list(v, list, variables[i].is_file);
	}
}

/* The directory of the program is its own, and is read to report crash locations. */
static void allow_own_folder(const struct msd_sandbox_paths_visitor *v)
{
	char path[PATH_MAX];
	const ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);

	path[n > 0 ? n : 0] = '\0';
	allow_folder_of(v, path);
}

/* Make it now: it cannot be made inside the sandbox. */
static void allow_made(const struct msd_sandbox_paths_visitor *v, const char *path)
{
	char upper[PATH_MAX];
	const char *slash = strrchr(path, '/');

	(void)snprintf(upper, sizeof(upper), "%.*s",
		       slash != NULL ? (int)(slash - path) : 0, path);
	(void)mkdir(upper, 0700);
	(void)mkdir(path, 0700);
	tell(v, path, MSD_REACH_WRITE);
}

static void allow_cache(const struct msd_sandbox_paths_visitor *v, size_t i)
{
	const char *own = secure_getenv(caches[i].own);
	const char *base = secure_getenv(caches[i].base);
	char path[PATH_MAX];
	int n = 0;

	if (own != NULL) {
		n = snprintf(path, sizeof(path), "%s", own);
	} else if (base != NULL) {
		n = snprintf(path, sizeof(path), "%s/%s", base, caches[i].below);
	}
	if (n > 0 && n < (int)sizeof(path) && path[0] == '/')
		allow_made(v, path);
}

static void allow_caches(const struct adding *a)
{
	char path[PATH_MAX];

	for (size_t i = 0; i < sizeof(caches) / sizeof(caches[0]); i++) {
		if ((caches[i].profiles & a->profiles) != 0 &&
		    (caches[i].where == NULL || access(caches[i].where, F_OK) == 0))
			allow_cache(a->v, i);
	}
	if ((a->profiles & DEVICES) != 0 && msd_build_cache_folder(path))
		allow_made(a->v, path);
}

/* Use fixed numbers, not the directory listing: it cannot be read when the profile is
 * narrowed later. */
static void allow_cards(const struct msd_sandbox_paths_visitor *v)
{
	char path[sizeof("/dev/nvidia") + 3];

	for (unsigned i = 0; i < MAX_CARDS; i++) {
		(void)snprintf(path, sizeof(path), "/dev/nvidia%u", i);
		tell(v, path, MSD_REACH_USE);
	}
}

static void allow_said(const struct msd_sandbox_paths_visitor *v, struct msd_span paths,
		       enum msd_landlock_reach reach)
{
	struct msd_cur c = msd_cur_of(paths);
	struct msd_wire_value path;
	char text[PATH_MAX];

	while (c.left > 0 && msd_value_read(&c, &path, NULL) == MSD_OK) {
		if (path.kind != MSD_K_STR || path.as.str.n >= sizeof(text))
			continue;
		(void)snprintf(text, sizeof(text), "%.*s", (int)path.as.str.n,
			       (const char *)path.as.str.p);
		tell(v, text, reach);
	}
}

void msd_sandbox_paths_visit(const struct msd_sandbox_plan *plan,
			     const struct msd_sandbox_paths_visitor *v)
{
	const struct adding a = {.v = v,
				 .profiles = plan->profile == MSD_SANDBOX_AUTO
						     ? ALL
						     : 1u << plan->profile};

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		if ((places[i].profiles & a.profiles) != 0)
			tell(v, places[i].path, places[i].reach);
	}
	allow_variables(v);
	allow_own_folder(v);
	allow_caches(&a);
	if ((a.profiles & DEVICES) != 0)
		allow_cards(v);
	allow_said(v, plan->plugins, MSD_REACH_READ);
	allow_said(v, plan->reads, MSD_REACH_RUN);
	allow_said(v, plan->writes, MSD_REACH_WRITE);
}

static void allow(void *ctx, const char *path, enum msd_landlock_reach reach)
{
	msd_landlock_allow(ctx, path, reach);
}

void msd_sandbox_paths_allow(const struct msd_sandbox_plan *plan,
			     struct msd_landlock *l)
{
	const struct msd_sandbox_paths_visitor v = {.visit = allow, .ctx = l};

	msd_sandbox_paths_visit(plan, &v);
}
