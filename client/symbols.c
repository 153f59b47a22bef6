#include "client/symbols.h"

#include <dlfcn.h>
#include <string.h>

const char *msd_symbols_find(const char *library, const char *const *names, size_t n,
			     void *ret)
{
	void *opened = dlopen(library, RTLD_NOW | RTLD_LOCAL);

	if (opened == NULL)
		return library;
	for (size_t i = 0; i < n; i++) {
		const void *symbol = dlsym(opened, names[i]);

		if (symbol == NULL)
			return names[i];
		/* Convert an object pointer to a function pointer; POSIX allows it,
		 * ISO C does not. */
		memcpy((char *)ret + i * sizeof(symbol), (const void *)&symbol,
		       sizeof(symbol));
	}
	return NULL;
}
