/* A classic library that makes functions of C functions, and registers them. */
#include <stdlib.h>
#include <string.h>

#include "tests/runtime/fixture.h"

enum { C_INT = 0, C_STR = 11 };

typedef int (*c_function)(union value *args, int *codes, int n, void *ret,
			  void *resource);
int TVMFuncCreateFromCFunc(c_function call, void *resource, void (*finish)(void *),
			   void **ret);
int TVMFuncFree(void *fn);
int TVMFuncRegisterGlobal(const char *name, void *fn, int may_replace);
int TVMFuncGetGlobal(const char *name, void **ret);
int TVMFuncCall(void *fn, union value *args, int *codes, int n, union value *ret,
		int *ret_code);
int TVMCFuncSetReturn(void *ret, union value *values, int *codes, int n);
void TVMAPISetLastError(const char *message);

static int64_t step = 100;

static int add_step(union value *args, int *codes, int n, void *ret, void *resource)
{
	if (n != 1 || codes[0] != C_INT)
		return TVMAPISetLastError("add_step takes an int"), -1;
	union value sum = {.i = args[0].i + *(int64_t *)resource};
	int code = C_INT;
	return TVMCFuncSetReturn(ret, &sum, &code, 1);
}

static int name_of(union value *args, int *codes, int n, void *ret, void *resource)
{
	char text[] = "a name that ends with the call";
	union value value = {.p = text};
	int code = C_STR;
	const int rc = TVMCFuncSetReturn(ret, &value, &code, 1);

	(void)args, (void)codes, (void)n, (void)resource;
	memset(text, 0, sizeof(text));
	return rc;
}

static void put(const char *name, c_function call)
{
	void *fn;

	if (TVMFuncCreateFromCFunc(call, &step, NULL, &fn) != 0 ||
	    TVMFuncRegisterGlobal(name, fn, 1) != 0)
		abort();
	(void)TVMFuncFree(fn);
}

__attribute__((constructor)) static void register_all(void)
{
	put("test.classic.add_step", add_step);
	put("test.classic.name", name_of);
}

/* call_global(name, argument...): the result of a registered function */
int call_global(union value *args, int *codes, int n, union value *ret, int *ret_code,
		void *resource)
{
	void *fn;

	(void)resource;
	if (TVMFuncGetGlobal(args[0].p, &fn) != 0)
		return -1;
	if (fn == NULL)
		return TVMAPISetLastError("no such function"), -1;
	const int rc = TVMFuncCall(fn, args + 1, codes + 1, n - 1, ret, ret_code);
	(void)TVMFuncFree(fn);
	return rc;
}
