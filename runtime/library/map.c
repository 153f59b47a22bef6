/*
 * A library of compiled code in this process: opened from its descriptor, its slots
 * filled, its context bound.
 *
 * Happy path: missing symbols are reported before dlopen runs a constructor. The
 * descriptor is opened by its path in /proc, or as a copy if the same file is already
 * mapped. The pointer globals of the compiled code get our functions, and its context
 * serves its lookups.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "artifact/elf/search.h"
#include "runtime/abi/ffi021.h"
#include "runtime/abi/slots.h"
#include "runtime/library/library.h"
#include "runtime/library/needed.h"
#include "runtime/library/stand_in.h"
#include "runtime/value/types.h"

#define HELPERS "libgcc_s.so.1"
#define MAX_NAMED 40 /* maximum number of symbols in an error text */
#define FD_NAME_MAX 32

/* True for symbols of TVM's C++ runtime: the code must be linked with that runtime. */
static bool is_tvm_cpp(const char *name)
{
	return strncmp(name, "_ZN3tvm", 7) == 0 || strncmp(name, "_ZNK3tvm", 8) == 0 ||
	       strncmp(name, "_ZTIN3tvm", 9) == 0 ||
	       strncmp(name, "_ZTVN3tvm", 9) == 0 || strncmp(name, "_ZN4dmlc", 8) == 0;
}

/* __cxa_demangle() of the C++ library. */
typedef char *(*demangle)(const char *name, char *room, size_t *n, int *ret_status);

struct missing {
	struct msd_buf names;
	size_t n;
	bool has_cpp;
	demangle demangle; /* NULL: no C++ library is needed */
};

static void missing_add(struct missing *m, const char *name)
{
	const bool has_room = m->n++ < MAX_NAMED;
	int status;
	char *shown = has_room && m->demangle != NULL
			      ? m->demangle(name, NULL, NULL, &status)
			      : NULL;

	if (has_room) {
		msd_buf_printf(&m->names, "%s%s", m->n > 1 ? ", " : "",
			       shown != NULL ? shown : name);
	}
	m->has_cpp = m->has_cpp || is_tvm_cpp(name);
	free(shown);
}

static msd_err missing_report(struct missing *m, const char *what, struct msd_diag *d)
{
	const char *hint =
		m->has_cpp ? "; those are of TVM's C++ runtime, which modserd does "
			     "not contain: build the module without code that is "
			     "generated against it (BYOC C source)"
			   : "";
	msd_err err = MSD_OK;

	if (m->n > 0) {
		err = msd_diag_set(d, MSD_UNSUPPORTED,
				   "%zu %s%s not found here: %.*s%s%s", m->n, what,
				   m->n == 1 ? " is" : "s are", (int)m->names.n,
				   m->names.p != NULL ? (char *)m->names.p : "",
				   m->n > MAX_NAMED ? ", ..." : "", hint);
	}
	msd_buf_finish(&m->names);
	return err;
}

static demangle find_demangle(void *const *libs, size_t n_libs)
{
	demangle found = NULL;
	void *p = NULL;

	for (size_t i = 0; p == NULL && i < n_libs; i++)
		p = dlsym(libs[i], "__cxa_demangle");
	memcpy(&found, &p, sizeof(found));
	return found;
}

/*
 * Compilers call functions of their own for some operations: __divti3 for a division of
 * 128 bits. A library that ld alone has linked does not name the file that has them.
 */
static bool is_helper(const char *name)
{
	void *helpers = strncmp(name, "__", 2) == 0
				? dlopen(HELPERS, RTLD_LAZY | RTLD_LOCAL)
				: NULL;

	if (helpers == NULL)
		return false;
	if (dlsym(helpers, name) == NULL) {
		(void)dlclose(helpers);
		return false;
	}
	/* It stays open: now every library finds its symbols. */
	return dlopen(HELPERS, RTLD_LAZY | RTLD_GLOBAL) != NULL;
}

static bool resolves(const char *name, void *const *libs, size_t n_libs)
{
	if (dlsym(RTLD_DEFAULT, name) != NULL)
		return true;
	for (size_t i = 0; i < n_libs; i++) {
		if (dlsym(libs[i], name) != NULL)
			return true;
	}
	return is_helper(name);
}

/* Open as the loader does for the library: its own search path first, then the
 * system's. */
static void *open_needed(const struct msd_elf *elf, const char *name)
{
	char place[MSD_SEARCH_MAX];
	void *found = NULL;

	if (msd_stand_in_is(name))
		return dlopen(name, RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD);
	for (size_t i = 0;
	     found == NULL && msd_search_place(elf->search_path, name, i, place); i++)
		found = dlopen(place, RTLD_LAZY | RTLD_LOCAL);
	if (found == NULL && strchr(name, '/') == NULL)
		found = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
	return found;
}

/* True if the library's search path has @name in a place that is not readable. */
static bool is_closed(const struct msd_elf *elf, const char *name,
		      char place[static MSD_SEARCH_MAX])
{
	for (size_t i = 0; msd_search_place(elf->search_path, name, i, place); i++) {
		const int fd = open(place, O_RDONLY | O_CLOEXEC);

		if (fd < 0 && (errno == EACCES || errno == EPERM))
			return true;
		if (fd >= 0)
			(void)close(fd);
	}
	return false;
}

/*
 * Report the first needed library that exists in the search path but is not readable.
 */
static msd_err refuse_closed(const struct msd_elf *elf, struct msd_diag *d)
{
	char place[MSD_SEARCH_MAX];

	for (size_t i = 0; i < elf->n_needed; i++) {
		void *h = open_needed(elf, elf->needed[i]);

		if (h != NULL) {
			(void)dlclose(h);
		} else if (is_closed(elf, elf->needed[i], place)) {
			const char *end = strrchr(place, '/');

			return msd_diag_set(
				d, MSD_UNSUPPORTED,
				"needs %s, which modules may not read: start the "
				"daemon with --may-read %.*s, or load the module with "
				"sandbox=trusted",
				end + 1, (int)(end > place ? end - place : 1), place);
		}
	}
	return MSD_OK;
}

static msd_err refuse_neighbours(struct missing *libs, struct msd_diag *d)
{
	msd_err err = msd_diag_set(
		d, MSD_UNSUPPORTED,
		"looks for libraries beside itself ($ORIGIN): %.*s; it is opened as "
		"bytes and has no place: link it with the folder's whole path "
		"(-Wl,-rpath,/FOLDER), or give it that (patchelf --set-rpath /FOLDER)",
		(int)libs->names.n, (const char *)libs->names.p);

	msd_buf_finish(&libs->names);
	return err;
}

msd_err msd_library_check_symbols(const struct msd_elf *elf, struct msd_diag *d)
{
	struct missing libs = {0};
	struct missing syms = {0};
	size_t n_handles = 0;
	msd_err err;

	void **handles = calloc(elf->n_needed + 1, sizeof(*handles));
	if (handles == NULL)
		return msd_diag_no_memory(d);
	if (elf->n_needed > 0)
		(void)msd_stand_in_open(); /* else the name is missing below */
	for (size_t i = 0; i < elf->n_needed; i++) {
		void *h = open_needed(elf, elf->needed[i]);
		if (h != NULL) {
			handles[n_handles++] = h;
		} else {
			missing_add(&libs, elf->needed[i]);
		}
	}
	err = libs.n > 0 ? refuse_closed(elf, d) : MSD_OK;
	if (err != MSD_OK) {
		msd_buf_finish(&libs.names);
	} else {
		err = libs.n > 0 && elf->uses_origin
			      ? refuse_neighbours(&libs, d)
			      : missing_report(&libs, "needed library file", d);
	}
	syms.demangle = find_demangle(handles, n_handles);
	for (size_t i = 0; err == MSD_OK && i < elf->n_syms; i++) {
		const struct msd_elf_sym *s = &elf->syms[i];
		if (!s->defined && !s->weak && s->name[0] != '\0' &&
		    !resolves(s->name, handles, n_handles))
			missing_add(&syms, s->name);
	}
	if (err == MSD_OK) {
		err = missing_report(&syms, "needed symbol", d);
	} else {
		msd_buf_finish(&syms.names);
	}
	while (n_handles > 0)
		(void)dlclose(handles[--n_handles]);
	free(handles);
	return err;
}

static msd_err copy_to_memfd(struct msd_span file, int *ret, struct msd_diag *d)
{
	int fd = memfd_create("modserd-library", MFD_CLOEXEC);
	size_t done = 0;

	if (fd < 0)
		return msd_diag_set(d, MSD_IO, "memfd_create: %s", strerror(errno));
	while (done < file.n) {
		ssize_t n = write(fd, file.p + done, file.n - done);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			msd_err err =
				msd_diag_set(d, MSD_NO_SPACE, "copy the library: %s",
					     strerror(errno));
			(void)close(fd);
			return err;
		}
		done += (size_t)n;
	}
	*ret = fd;
	return MSD_OK;
}

static void fd_name(int fd, char out[static FD_NAME_MAX])
{
	(void)snprintf(out, FD_NAME_MAX, "/proc/self/fd/%d", fd);
}

/*
 * dlopen returns an existing mapping if it knows the name or the inode. The name is
 * unique to this load because the descriptor stays open as long as the mapping; a
 * file that is already mapped is copied.
 */
static msd_err private_fd(int fd, struct msd_span file, int *ret, struct msd_diag *d)
{
	char name[FD_NAME_MAX];
	int own = fcntl(fd, F_DUPFD_CLOEXEC, 3);

	if (own < 0) {
		return msd_diag_set(d, MSD_IO, "duplicate the library's descriptor: %s",
				    strerror(errno));
	}
	fd_name(own, name);
	void *mapped = dlopen(name, RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD);
	if (mapped == NULL) {
		*ret = own;
		return MSD_OK;
	}
	(void)dlclose(mapped);
	(void)close(own);
	return copy_to_memfd(file, ret, d);
}

msd_err msd_library_map(struct msd_lib *lib, int fd, struct msd_span file,
			struct msd_diag *d)
{
	char name[FD_NAME_MAX];
	msd_err err = private_fd(fd, file, &lib->fd, d);

	if (err != MSD_OK)
		return err;
	fd_name(lib->fd, name);
	msd_syslib_collect(&lib->syslib);
	lib->handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
	msd_syslib_collect(NULL);
	if (lib->handle == NULL)
		return msd_diag_set(d, MSD_UNSUPPORTED, "dlopen: %s", dlerror());
	char *fault = msd_type_take_fault();
	if (fault != NULL) {
		(void)msd_diag_set(d, MSD_UNSUPPORTED, "%s", fault);
		free(fault);
		return MSD_UNSUPPORTED;
	}
	if (lib->syslib.is_short_of_memory)
		return msd_diag_no_memory(d);
	return MSD_OK;
}

void msd_library_unmap(struct msd_lib *lib)
{
	if (lib->handle != NULL)
		(void)dlclose(lib->handle);
	lib->handle = NULL;
	if (lib->fd >= 0)
		(void)close(lib->fd);
	lib->fd = -1;
	msd_syslib_finish(&lib->syslib);
}

static void *symbol_or_null(const struct msd_lib *lib, const char *name)
{
	const struct msd_elf_sym *s = msd_elf_find(lib->elf, name);

	return s != NULL && s->defined ? dlsym(lib->handle, name) : NULL;
}

static bool ends_with(const char *text, const char *end)
{
	const size_t n = strlen(text);
	const size_t k = strlen(end);

	return n >= k && strcmp(text + n - k, end) == 0;
}

void *msd_library_slot_value(const struct msd_lib *lib, const char *name)
{
	msd_safe_call call = msd_ffi021_function_call;
	void *value;

	if (lib->era != MSD_ERA_FFI_021 || strcmp(name, "__TVMFFIFunctionCall") != 0)
		return msd_slot_value(name);
	memcpy(&value, &call, sizeof(value));
	return value;
}

msd_err msd_library_bind(struct msd_lib *lib, struct msd_node *env, struct msd_diag *d)
{
	const char *ctx_name = msd_era_names(lib->era)->ctx;
	void **slot;

	for (size_t i = 0; i < lib->elf->n_syms; i++) {
		const struct msd_elf_sym *s = &lib->elf->syms[i];
		if (!s->defined || s->type == MSD_SYM_FUNC ||
		    !msd_slot_is_name(s->name))
			continue;
		void *value = msd_library_slot_value(lib, s->name);
		if (value == NULL) {
			return msd_diag_set(
				d, MSD_UNSUPPORTED,
				"wants the unknown pointer global %s: made by a "
				"TVM that this build does not know",
				s->name);
		}
		slot = dlsym(lib->handle, s->name);
		if (slot != NULL)
			*slot = value;
	}
	slot = symbol_or_null(lib, ctx_name);
	if (slot != NULL)
		*slot = &env->context;
	msd_needed_bind(lib, env);
	for (size_t i = 0; i < lib->syslib.n; i++) { /* their names may have a prefix */
		if (ends_with(lib->syslib.symbols[i].name, ctx_name))
			*(void **)lib->syslib.symbols[i].address = &env->context;
	}
	return MSD_OK;
}
