#ifndef MSD_TESTS_MODULES_ESCAPE_H
#define MSD_TESTS_MODULES_ESCAPE_H
/* How a function that reaches for what is not its own is made: what it takes, and that
 * it returns 0, or the number of the error. */
#include <errno.h>
#include <sys/types.h>
#include <unistd.h>

#include "ffi.h"

/* The text behind the object's head, or in place. */
static const char *text_of(const any *a)
{
	return a->type == T_STR ? *(char **)((char *)a->v.p + sizeof(object))
				: a->v.small;
}

static int tell(any *ret, int failed)
{
	ret->type = T_INT;
	ret->v.i = failed != 0 ? errno : 0;
	return 0;
}

/* Of one text. */
#define REACHES(name)                                                                  \
	static int name##_reaches(const char *text);                                   \
	FUNCTION(name)                                                                 \
	{                                                                              \
		if (n != 1 || (args[0].type != T_STR && args[0].type != T_SMALL_STR))  \
			return fail("TypeError", #name " takes a text");               \
		return tell(ret, name##_reaches(text_of(&args[0])));                   \
	}                                                                              \
	static int name##_reaches(const char *text)

static int closed(int fd)
{
	return fd < 0 ? -1 : close(fd);
}

/* Of one process. */
#define REACHES_PROCESS(name)                                                          \
	static int name##_reaches(pid_t pid);                                          \
	FUNCTION(name)                                                                 \
	{                                                                              \
		if (n != 1 || args[0].type != T_INT)                                   \
			return fail("TypeError", #name " takes a process");            \
		return tell(ret, name##_reaches((pid_t)args[0].v.i));                  \
	}                                                                              \
	static int name##_reaches(pid_t pid)

#endif
