#include "client/transport/libssl.h"

#include <pthread.h>

#include "client/symbols.h"

#define LIBRARY "libssl.so.3"

static struct msd_libssl found;
static const char *missing; /* NULL: all exist */
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void find_all(void)
{
	static const char *const names[] = {
#define MSD_LIBSSL_NAME(name) #name,
		MSD_LIBSSL_MAP(MSD_LIBSSL_NAME)
#undef MSD_LIBSSL_NAME
	};

	missing = msd_symbols_find(LIBRARY, names, sizeof(names) / sizeof(names[0]),
				   &found);
}

const struct msd_libssl *msd_libssl_open(struct msd_diag *d)
{
	(void)pthread_once(&once, find_all);
	if (missing == NULL)
		return &found;
	(void)msd_diag_set(
		d, MSD_UNSUPPORTED,
		"TLS needs OpenSSL 3 (Debian: libssl3), but %s is not installed",
		missing);
	return NULL;
}
