#include "runtime/abi/slots.h"

#include <string.h>

#include "runtime/abi/classic.h"
#include "runtime/abi/ffi.h"
#include "runtime/abi/workspace.h"
#include "runtime/pool/pool.h"

typedef void (*any_function)(void);

static const struct {
	const char *name;
	any_function function;
} slots[] = {
	/* 0.6 - 0.20 */
	{"__TVMFuncCall", (any_function)msd_classic_func_call},
	{"__TVMAPISetLastError", (any_function)msd_classic_set_last_error},
	/* 0.6 - 0.25 */
	{"__TVMBackendGetFuncFromEnv", (any_function)msd_ffi_lookup},
	/* all */
	{"__TVMBackendAllocWorkspace", (any_function)msd_workspace_alloc},
	{"__TVMBackendFreeWorkspace", (any_function)msd_workspace_free},
	{"__TVMBackendParallelLaunch", (any_function)msd_pool_launch},
	{"__TVMBackendParallelBarrier", (any_function)msd_pool_barrier},
	/* 0.21 - 0.23; 0.24 and later have it as an undefined symbol */
	{"__TVMFFIErrorSetRaisedFromCStr", (any_function)msd_ffi_raise},
	{"__TVMFFIErrorSetRaisedFromCStrParts", (any_function)msd_ffi_raise_parts},
	/* 0.21 and later */
	{"__TVMFFIFunctionCall", (any_function)msd_ffi_function_call},
	/* 0.26 and later */
	{"__TVMFFIEnvModLookupFromImports", (any_function)msd_ffi_lookup},
	{"__TVMFFIHandleInitOnce", (any_function)msd_ffi_handle_init_once},
};

void *msd_slot_value(const char *name)
{
	void *p;

	for (size_t i = 0; i < sizeof(slots) / sizeof(slots[0]); i++) {
		if (strcmp(slots[i].name, name) == 0) {
			memcpy(&p, &slots[i].function, sizeof(p));
			return p;
		}
	}
	return NULL;
}

bool msd_slot_is_name(const char *name)
{
	return strncmp(name, "__TVM", 5) == 0;
}
