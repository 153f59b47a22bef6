#include "runtime/abi/slots.h"

#include <pthread.h>
#include <string.h>

#include "artifact/provides/slots.h"
#include "runtime/abi/classic.h"
#include "runtime/abi/ffi.h"
#include "runtime/abi/workspace.h"
#include "runtime/pool/pool.h"
#include "runtime/value/error.h"

typedef void (*any_function)(void);

static const struct {
	const char *name;
	any_function function;
} slots[] = {
#define ROW(name, function) {name, (any_function)(function)},
	MSD_SLOT_MAP(ROW)
#undef ROW
};

#define N_SLOTS (sizeof(slots) / sizeof(slots[0]))
#define MAX_GIVEN 1024u
#define MAX_NAME 512u

/* Registered by libraries; rows are complete before n_given counts them. */
static struct {
	char *name;
	void *value;
} given[MAX_GIVEN];
static size_t n_given;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static size_t find_given(const char *name)
{
	const size_t n = __atomic_load_n(&n_given, __ATOMIC_ACQUIRE);
	size_t i = 0;

	while (i < n && strcmp(given[i].name, name) != 0)
		i++;
	return i < n ? i : MAX_GIVEN;
}

void *msd_slot_value(const char *name)
{
	const size_t at = find_given(name);
	void *p;

	for (size_t i = 0; at == MAX_GIVEN && i < N_SLOTS; i++) {
		if (strcmp(slots[i].name, name) == 0) {
			memcpy(&p, &slots[i].function, sizeof(p));
			return p;
		}
	}
	return at != MAX_GIVEN ? __atomic_load_n(&given[at].value, __ATOMIC_ACQUIRE)
			       : NULL;
}

const char *msd_slot_name(size_t i)
{
	if (i < N_SLOTS)
		return slots[i].name;
	i -= N_SLOTS;
	return i < __atomic_load_n(&n_given, __ATOMIC_ACQUIRE) ? given[i].name : NULL;
}

bool msd_slot_is_name(const char *name)
{
	return strncmp(name, "__TVM", 5) == 0 || find_given(name) != MAX_GIVEN;
}

static int add_given(const char *name, void *value)
{
	const size_t n = strlen(name);

	if (n_given == MAX_GIVEN || n > MAX_NAME) {
		return msd_abi_raise("RuntimeError",
				     "more than %u context symbols, or a name of more "
				     "than %u bytes",
				     MAX_GIVEN, MAX_NAME);
	}
	given[n_given].name = strdup(name);
	given[n_given].value = value;
	if (given[n_given].name == NULL)
		return msd_abi_no_memory();
	__atomic_store_n(&n_given, n_given + 1, __ATOMIC_RELEASE);
	return 0;
}

int msd_slot_register(const char *name, void *value)
{
	int rc = 0;

	(void)pthread_mutex_lock(&lock);
	const size_t at = find_given(name);
	if (at != MAX_GIVEN) {
		__atomic_store_n(&given[at].value, value, __ATOMIC_RELEASE);
	} else {
		rc = add_given(name, value);
	}
	(void)pthread_mutex_unlock(&lock);
	return rc;
}
