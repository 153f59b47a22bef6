/* Functions of libcuda.so.1 by their symbols: modules and the linker, each with the
 * section and the function of the driver API's documentation. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "artifact/gpu/code.h"
#include "stub.h"

/* Found by name alone: there is no header that declares them. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

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

/* Programming guide, "Separate compilation"; nvcc's manual, "Using separate compilation
 * in CUDA": relocatable code is linked first. A driver before 13 does not know the
 * cubins of 13. */
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

/* "Data types used by CUDA driver", CUjit_option: CU_JIT_ERROR_LOG_BUFFER and its size.
 */
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

/* "Data types used by CUDA driver", CUresult, CUDA_ERROR_NO_BINARY_FOR_GPU: nothing in
 * the code is for the device. What cannot be read is for another rule. */
static bool has_code_for_device(const void *image, size_t n)
{
	struct msd_gpu_code code = {0};
	bool runs =
		msd_gpu_code_read((struct msd_span){image, n}, &code, NULL) != MSD_OK ||
		code.n_images == 0;

	for (size_t i = 0; !runs && i < code.n_images; i++) {
		runs = code.images[i].arch.sm == 0 ||
		       msd_gpu_image_runs_on(&code.images[i], STUB_CAPABILITY);
	}
	msd_gpu_code_finish(&code);
	return runs;
}

/* "Module Management", cuModuleLoadDataEx: needs a current context; text must be PTX,
 * NUL-terminated; what cannot be loaded is CUDA_ERROR_INVALID_IMAGE. */
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
	if (!has_code_for_device(image, size))
		return NO_BINARY_FOR_GPU;
	struct object *m = object_new(MODULE, context_current());
	m->image = malloc(size);
	if (m->image == NULL)
		abort();
	memcpy(m->image, image, size); /* all of it must be there */
	m->image_bytes = size;
	*ret = m;
	return OK;
}

/* "Module Management", cuModuleUnload: from the current context, which the module must
 * be of. */
STUB_API int cuModuleUnload(struct object *module)
{
	LOCKED;
	int code = enter_context("cuModuleUnload");
	if (!object_ok(module, MODULE, "cuModuleUnload"))
		return INVALID_HANDLE;
	(void)context_run(context_current());
	if (module->global != 0)
		(void)memory_free(module->context, module->global);
	module->is_alive = false;
	free(module->image);
	module->image = NULL;
	return code;
}

/* "Module Management", cuModuleGetFunction: a name that is not there is
 * CUDA_ERROR_NOT_FOUND. */
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
	facts_read(f, name);
	*ret = f;
	return OK;
}

/* "Module Management", cuModuleGetGlobal: a name that is not there is
 * CUDA_ERROR_NOT_FOUND. The one variable that compilers of models put there has four
 * bytes. */
STUB_API int cuModuleGetGlobal_v2(uint64_t *ret, size_t *ret_bytes,
				  struct object *module, const char *name)
{
	ENTER(enter_context("cuModuleGetGlobal"));
	if (!object_ok(module, MODULE, "cuModuleGetGlobal"))
		return INVALID_HANDLE;
	if (memmem(module->image, module->image_bytes, name, strlen(name)) == NULL)
		return NOT_FOUND;
	if (module->global == 0 &&
	    memory_alloc(module->context, &module->global, 4) != OK)
		return OUT_OF_MEMORY;
	note_global(module->global);
	*ret = module->global;
	*ret_bytes = 4;
	return OK;
}

/* "Module Management", cuLinkCreate: needs a current context, for whose device is
 * linked; the options' buffers stay until cuLinkDestroy. */
STUB_API int cuLinkCreate_v2(unsigned n, int *options, void **values,
			     struct object **ret)
{
	ENTER(enter_context("cuLinkCreate"));
	*ret = object_new(LINK, context_current());
	log_find(n, options, values, &(*ret)->log, &(*ret)->log_bytes);
	return OK;
}

/* "Module Management", cuLinkAddData: PTX must be NUL-terminated, and the NUL counts;
 * what does not compile is CUDA_ERROR_INVALID_PTX, with the log in the buffer of
 * cuLinkCreate. */
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

/* "Module Management", cuLinkComplete: the result belongs to the link. Here it is an
 * ELF header, one section, and the PTX in it. */
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

/* "Module Management", cuLinkDestroy: once, in the context of cuLinkCreate. */
STUB_API int cuLinkDestroy(struct object *link)
{
	LOCKED;
	int code = enter_context("cuLinkDestroy");
	if (!object_ok(link, LINK, "cuLinkDestroy"))
		return INVALID_HANDLE;
	free(link->image);
	link->image = NULL;
	link->is_alive = false;
	return code;
}
