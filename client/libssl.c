#include "client/libssl.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

#define LIBRARY "libssl.so.3"

static struct msd_libssl found;
static const char *missing; /* NULL: all are there */
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* A function's address from an object's, as POSIX has it and ISO C has not. */
static void find_one(void *library, const char *name, void *ret)
{
	void *symbol = missing == NULL ? dlsym(library, name) : NULL;

	if (symbol == NULL && missing == NULL)
		missing = name;
	memcpy(ret, (const void *)&symbol, sizeof(symbol));
}

static void find_all(void)
{
	void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);

	missing = library == NULL ? LIBRARY : NULL;
#define MSD_LIBSSL_FIND(name) find_one(library, #name, (void *)&found.name);
	MSD_LIBSSL_MAP(MSD_LIBSSL_FIND)
#undef MSD_LIBSSL_FIND
}

const struct msd_libssl *msd_libssl_open(struct msd_diag *d)
{
	(void)pthread_once(&once, find_all);
	if (missing == NULL)
		return &found;
	(void)msd_diag_set(d, MSD_UNSUPPORTED,
			   "TLS needs OpenSSL 3 (Debian: libssl3), and %s is not there",
			   missing);
	return NULL;
}
