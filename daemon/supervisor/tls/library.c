#include "daemon/supervisor/tls/library.h"

#include <dlfcn.h>
#include <stdlib.h>

/* Returns NULL on an error, with the reason in @d. The library is never unloaded. */
static const struct msd_tls_library *open_library(const char *path, struct msd_diag *d)
{
	if (path == NULL) {
		(void)msd_diag_set(d, MSD_NOT_FOUND,
				   "modserd-tls.so is neither in the folder of modserd "
				   "nor in ../libexec/modserd: set MODSERD_TLS");
		return NULL;
	}
	void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (handle == NULL) {
		(void)msd_diag_set(d, MSD_NOT_FOUND, "TLS: %s", dlerror());
		return NULL;
	}
	const struct msd_tls_library *library = dlsym(handle, MSD_TLS_ENTRY);
	if (library == NULL || library->version != MSD_TLS_VERSION) {
		(void)dlclose(handle);
		(void)msd_diag_set(d, MSD_NOT_FOUND,
				   "TLS: %s is not of this version of modserd", path);
		return NULL;
	}
	return library;
}

msd_err msd_tls_open(struct msd_tls *t, const struct msd_tls_files *files,
		     struct msd_diag *d)
{
	struct msd_tls_context *next;

	if (t->library == NULL)
		t->library = open_library(t->path, d);
	if (t->library == NULL)
		return MSD_NOT_FOUND;
	msd_err err = t->library->context_open(files, &next, d);
	if (err != MSD_OK)
		return err;
	t->library->context_close(t->context);
	t->context = next;
	t->n_contexts++;
	return MSD_OK;
}

struct msd_tls_shown msd_tls_shows(const struct msd_tls *t)
{
	struct msd_tls_shown shown;

	t->library->context_shows(t->context, &shown);
	return shown;
}

struct msd_tls_trust msd_tls_trusts(const struct msd_tls *t)
{
	struct msd_tls_trust trust;

	t->library->context_trusts(t->context, &trust);
	return trust;
}

void msd_tls_finish(struct msd_tls *t)
{
	if (t->library != NULL)
		t->library->context_close(t->context);
	free(t->path);
	*t = (struct msd_tls){0};
}
