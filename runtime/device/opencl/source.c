#include "runtime/device/opencl/source.h"

#include <ctype.h>
#include <string.h>

#define MARKER "// Function: "

bool msd_opencl_section_find(struct msd_span code, struct msd_span name,
			     struct msd_span *ret)
{
	const char *text = (const char *)code.p;
	const char *end = text + code.n;
	const size_t n_marker = strlen(MARKER);

	for (const char *at = text;
	     (at = memmem(at, (size_t)(end - at), MARKER, n_marker)) != NULL;) {
		const char *found = at + n_marker;
		const char *line = memchr(found, '\n', (size_t)(end - found));
		if (line == NULL)
			return false;
		at = line + 1;
		if ((size_t)(line - found) != name.n ||
		    memcmp(found, name.p, name.n) != 0)
			continue;
		const char *next = memmem(at, (size_t)(end - at), MARKER, n_marker);
		*ret = (struct msd_span){(const uint8_t *)at,
					 (size_t)((next != NULL ? next : end) - at)};
		return true;
	}
	return false;
}

bool msd_opencl_has_sections(struct msd_span code)
{
	return memmem(code.p, code.n, MARKER, strlen(MARKER)) != NULL;
}

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* True if "bool" at @at, within @text, is the type of a parameter that is not a
 * pointer. */
static bool is_bool_parameter(const char *text, const char *at, const char *end)
{
	return (at == text || !is_word(at[-1])) && end - at > 5 && at[4] == ' ' &&
	       is_word(at[5]);
}

void msd_opencl_bools_replace(char *code, size_t n)
{
	const char *end = code + n;
	char *at = code;

	while ((at = memmem(at, (size_t)(end - at), "__kernel", 8)) != NULL) {
		/* Up to the body, or the end of the declaration. */
		for (; at < end && *at != '{' && *at != ';'; at++) {
			if (end - at > 4 && memcmp(at, "bool", 4) == 0 &&
			    is_bool_parameter(code, at, end))
				memcpy(at, "char", 4);
		}
	}
}
