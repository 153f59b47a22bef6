/* Libraries that must be refused before they run: each a trap in its constructor. */
#include "fixture.h"

#if defined(FIXTURE_UNKNOWN_SLOT)
void *__TVMBackendFutureThing;
#elif defined(FIXTURE_CPP)
void cpp_symbol(void) __asm__("_ZN3tvm7runtime8LogFatalEv");
#define WANTED cpp_symbol()
#else
void modserd_test_missing_one(void);
void modserd_test_missing_two(void);
#define WANTED (modserd_test_missing_one(), modserd_test_missing_two())
#endif

int __tvm_ffi_f(void *self, const struct any *args, int32_t n, struct any *ret)
{
	(void)self;
	(void)args;
	(void)n;
	(void)ret;
#ifdef WANTED
	WANTED;
#endif
	return 0;
}

#ifdef WANTED
__attribute__((constructor)) static void start(void)
{
	__builtin_trap();
}
#endif
