#include "runtime/abi/slots.h"

#include <string.h>

#include "artifact/provides/slots.h"
#include "runtime/abi/classic.h"
#include "runtime/abi/ffi.h"
#include "runtime/abi/workspace.h"
#include "runtime/pool/pool.h"

typedef void (*any_function)(void);

static const struct {
	const char *name;
	any_function function;
} slots[] = {
#define ROW(name, function) {name, (any_function)(function)},
	MSD_SLOT_MAP(ROW)
#undef ROW
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

const char *msd_slot_name(size_t i)
{
	return i < sizeof(slots) / sizeof(slots[0]) ? slots[i].name : NULL;
}

bool msd_slot_is_name(const char *name)
{
	return strncmp(name, "__TVM", 5) == 0;
}
