/* Functions of libcuda.so.1 by their symbols: modules, launches, the linker. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stub.h"

/* Found by name alone: there is no header that declares them. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

#define DEFAULT_DYNAMIC (48 * 1024)
#define MOST_DYNAMIC (227 * 1024)

/* Bytes of an image that says its own size. */
static size_t image_size(const unsigned char *p)
{
	uint32_t magic;
	uint64_t n = 0;

	memcpy(&magic, p, 4);
	if (magic == 0xBA55ED50) {
		uint16_t head;
		memcpy(&head, p + 6, 2);
		memcpy(&n, p + 8, 8);
		return head + n;
	}
	if (magic == 0x464c457f) {
		uint64_t at;
		uint16_t sections;
		memcpy(&at, p + 40, 8);
		memcpy(&sections, p + 60, 2);
		n = at + 64u * sections;
		for (unsigned i = 0; i < sections; i++) {
			uint64_t begin;
			uint64_t size;
			uint32_t type;
			memcpy(&type, p + at + i * 64 + 4, 4);
			memcpy(&begin, p + at + i * 64 + 24, 8);
			memcpy(&size, p + at + i * 64 + 32, 8);
			if (type != 8 && begin + size > n)
				n = begin + size;
		}
	}
	return n;
}

static bool is_ptx(const char *text)
{
	return strncmp(text, "//", 2) == 0 || strncmp(text, ".version", 8) == 0;
}

/* Programming guide, "Separate compilation": relocatable code is linked first. A driver
 * before 13 does not know the cubins of 13. */
static bool is_linked(const unsigned char *p)
{
	uint16_t type;

	memcpy(&type, p + 16, 2);
	return memcmp(p, "\177ELF", 4) != 0 ||
	       (type != 1 && (p[8] < 8 || driver_version() >= 13000));
}

static void say(char *log, size_t n, const char *what)
{
	if (log != NULL && n > 0)
		(void)snprintf(log, n, "%s", what);
}

/* CU_JIT_ERROR_LOG_BUFFER and its size. */
static void log_find(unsigned n, const int *options, void **values, char **ret,
		     size_t *ret_n)
{
	for (unsigned i = 0; i < n; i++) {
		if (options[i] == 5)
			*ret = values[i];
		if (options[i] == 6)
			*ret_n = (size_t)(uintptr_t)values[i];
	}
}

STUB_API int cuModuleLoadDataEx(struct object **ret, const void *image, unsigned n,
				int *options, void **values)
{
	char *log = NULL;
	size_t log_n = 0;

	ENTER(enter_context("cuModuleLoadDataEx"));
	log_find(n, options, values, &log, &log_n);
	size_t size = image_size(image);
	if (size == 0 && !is_ptx(image)) {
		say(log, log_n, "stub: neither an image nor PTX");
		return INVALID_IMAGE;
	}
	if (size == 0)
		size = strlen(image) + 1;
	if (!is_linked(image))
		return INVALID_IMAGE;
	struct object *m = object_new(MODULE, context_current());
	m->image = malloc(size);
	if (m->image == NULL)
		abort();
	memcpy(m->image, image, size); /* all of it must be there */
	m->image_bytes = size;
	*ret = m;
	return OK;
}

STUB_API int cuModuleUnload(struct object *module)
{
	LOCKED;
	int code = enter("cuModuleUnload");
	if (!object_ok(module, MODULE, "cuModuleUnload"))
		return INVALID_HANDLE;
	(void)context_run(context_current());
	module->is_alive = false;
	free(module->image);
	module->image = NULL;
	return code;
}

STUB_API int cuModuleGetFunction(struct object **ret, struct object *module,
				 const char *name)
{
	ENTER(enter_context("cuModuleGetFunction"));
	if (!object_ok(module, MODULE, "cuModuleGetFunction"))
		return INVALID_HANDLE;
	const struct kernel *k = kernel_find(name, module->image, module->image_bytes);
	if (k == NULL &&
	    memmem(module->image, module->image_bytes, name, strlen(name)) == NULL)
		return NOT_FOUND;
	struct object *f = object_new(FUNCTION, context_current());
	f->kernel = k;
	f->module = module;
	f->max_dynamic = DEFAULT_DYNAMIC;
	*ret = f;
	return OK;
}

STUB_API int cuFuncGetAttribute(int *ret, int which, struct object *f)
{
	ENTER(enter_context("cuFuncGetAttribute"));
	*ret = 0;
	return which == 1 && object_ok(f, FUNCTION, "cuFuncGetAttribute")
		       ? OK
		       : INVALID_VALUE;
}

STUB_API int cuFuncSetAttribute(struct object *f, int which, int value)
{
	ENTER(enter_context("cuFuncSetAttribute"));
	if (!object_ok(f, FUNCTION, "cuFuncSetAttribute"))
		return INVALID_HANDLE;
	if (which == 8 && value > MOST_DYNAMIC)
		return INVALID_VALUE;
	if (which == 8)
		f->max_dynamic = value;
	if (which == 14)
		f->has_large_clusters = value != 0;
	return which == 8 || which == 14 ? OK : INVALID_VALUE;
}

static size_t param_bytes(char type)
{
	return type == 'i' || type == 'f' ? 4 : type == 'T' ? 128 : 8;
}

/* Execution control, cuFuncGetParamInfo: an index that the function has not is an
 * invalid value. */
STUB_API int cuFuncGetParamInfo(struct object *f, size_t index, size_t *offset,
				size_t *size)
{
	ENTER(enter_context("cuFuncGetParamInfo"));
	if (!object_ok(f, FUNCTION, "cuFuncGetParamInfo"))
		return INVALID_HANDLE;
	if (f->kernel == NULL || getenv("STUB_CUDA_NO_PARAMS") != NULL)
		return NOT_SUPPORTED;
	if (index >= strlen(f->kernel->params))
		return INVALID_VALUE;
	*offset = 0;
	for (size_t i = 0; i <= index; i++) {
		*size = param_bytes(f->kernel->params[i]);
		*offset =
			(*offset + *size - 1) / *size * *size + (i < index ? *size : 0);
	}
	return OK;
}

static int launch(struct object *f, const unsigned grid[3], const unsigned block[3],
		  unsigned shared, struct object *stream, void **params,
		  uint32_t attributes)
{
	struct work w = {.task = KERNEL};

	if (!object_ok(f, FUNCTION, "launch") || !object_ok(stream, STREAM, "launch"))
		return INVALID_HANDLE;
	if (!f->module->is_alive) {
		violation("a kernel of an unloaded module is launched");
		return INVALID_HANDLE;
	}
	for (int i = 0; i < 3; i++) {
		if (grid[i] == 0 || block[i] == 0)
			return INVALID_VALUE;
	}
	if ((uint64_t)block[0] * block[1] * block[2] > 1024 ||
	    shared > (unsigned)f->max_dynamic)
		return INVALID_VALUE;
	if (f->kernel == NULL)
		return NOT_SUPPORTED; /* the stand-in does not know it */
	w.kernel = f->kernel;
	for (size_t i = 0; f->kernel->params[i] != '\0'; i++) {
		const char type = f->kernel->params[i];
		memcpy(&w.params[i], params[i], type == 'T' ? 8 : param_bytes(type));
		if (f->kernel->params[i] == 'p' && w.params[i].u64 != 0 &&
		    memory_at(w.params[i].u64, 1) == NULL) {
			violation("parameter %zu of %s is no memory", i,
				  f->kernel->name);
		}
	}
	memcpy(w.grid, grid, sizeof(w.grid));
	memcpy(w.block, block, sizeof(w.block));
	note_launch(grid, block, shared, attributes);
	work_add(stream, &w);
	return OK;
}

/* NOLINTNEXTLINE(readability-function-size): the driver's signature */
STUB_API int cuLaunchKernel(struct object *f, unsigned gx, unsigned gy, unsigned gz,
			    unsigned bx, unsigned by, unsigned bz, unsigned shared,
			    struct object *stream, void **params, void **extra)
{
	const unsigned grid[3] = {gx, gy, gz};
	const unsigned block[3] = {bx, by, bz};

	ENTER(enter_context("cuLaunchKernel"));
	if (extra != NULL)
		return INVALID_VALUE;
	return launch(f, grid, block, shared, stream, params, 0);
}

struct attribute {
	int id;
	int pad;
	union {
		char bytes[64];
		unsigned extent[3];
	} value;
};

struct config {
	unsigned grid[3], block[3], shared;
	struct object *stream;
	struct attribute *attributes;
	unsigned n;
};

STUB_API int cuLaunchKernelEx(const struct config *c, struct object *f, void **params,
			      void **extra)
{
	uint32_t seen = 0;

	ENTER(enter_context("cuLaunchKernelEx"));
	if (extra != NULL || !object_ok(f, FUNCTION, "cuLaunchKernelEx"))
		return INVALID_VALUE;
	for (unsigned i = 0; i < c->n; i++) {
		const struct attribute *a = &c->attributes[i];
		const unsigned *e = a->value.extent;
		seen |= a->id >= 0 && a->id < 32 ? 1u << a->id : 0;
		if (a->id != 4 && a->id != 11)
			continue;
		if (e[0] * e[1] * e[2] > 8 && !f->has_large_clusters)
			return INVALID_CLUSTER_SIZE;
		for (int k = 0; k < 3; k++) {
			if (e[k] == 0 || c->grid[k] % e[k] != 0)
				return INVALID_CLUSTER_SIZE;
		}
	}
	return launch(f, c->grid, c->block, c->shared, c->stream, params, seen);
}

STUB_API int cuLinkCreate_v2(unsigned n, int *options, void **values,
			     struct object **ret)
{
	ENTER(enter_context("cuLinkCreate"));
	*ret = object_new(LINK, context_current());
	log_find(n, options, values, &(*ret)->log, &(*ret)->log_bytes);
	return OK;
}

STUB_API int cuLinkAddData_v2(struct object *link, int type, void *data, size_t n,
			      const char *name, unsigned n_options, int *options,
			      void **values)
{
	(void)name, (void)options, (void)values;
	ENTER(enter_context("cuLinkAddData"));
	if (!object_ok(link, LINK, "cuLinkAddData"))
		return INVALID_HANDLE;
	const char *text = data;
	if (type != 1 || n_options != 0 || n == 0 || text[n - 1] != '\0') {
		violation("cuLinkAddData: PTX must end with a NUL");
		return INVALID_VALUE;
	}
	if (!is_ptx(text) || strstr(text, ".entry") == NULL) {
		say(link->log, link->log_bytes, "ptxas fatal : stub: not PTX");
		return INVALID_PTX;
	}
	link->image = strdup(text);
	return OK;
}

/* A "cubin": an ELF header, one section, and the PTX in it. */
STUB_API int cuLinkComplete(struct object *link, void **ret, size_t *ret_n)
{
	ENTER(enter_context("cuLinkComplete"));
	if (!object_ok(link, LINK, "cuLinkComplete") || link->image == NULL)
		return INVALID_HANDLE;
	const uint64_t n = strlen(link->image);
	const uint64_t at = 64;
	const uint64_t begin = 128;
	const uint16_t entry = 64;
	const uint16_t one = 1;
	const uint32_t type = 1;
	char *cubin = calloc(1, begin + n);
	if (cubin == NULL)
		abort();
	memcpy(cubin, "\177ELF\2", 5);
	memcpy(cubin + 40, &at, 8);
	memcpy(cubin + 58, &entry, 2);
	memcpy(cubin + 60, &one, 2);
	memcpy(cubin + at + 4, &type, 4);
	memcpy(cubin + at + 24, &begin, 8);
	memcpy(cubin + at + 32, &n, 8);
	memcpy(cubin + begin, link->image, n);
	free(link->image);
	link->image = cubin;
	*ret = cubin;
	*ret_n = begin + n;
	return OK;
}

STUB_API int cuLinkDestroy(struct object *link)
{
	LOCKED;
	int code = enter("cuLinkDestroy");
	if (!object_ok(link, LINK, "cuLinkDestroy"))
		return INVALID_HANDLE;
	free(link->image);
	link->image = NULL;
	link->is_alive = false;
	return code;
}
