#include "graph/ir/refuse.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static _Thread_local char text[256];

int msd_refuse(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return -1;
}

void msd_refuse_nothing(void)
{
	text[0] = '\0';
}

const char *modser_registration_error(void)
{
	return text;
}

static bool is_size(const struct msd_struct *kind, size_t size)
{
	return size == kind->bytes ||
	       (kind->least > 0 && size >= kind->least && size < kind->bytes &&
		(kind->bytes - size) % sizeof(void *) == 0);
}

bool msd_struct_check(const struct msd_struct *kind, const void *p)
{
	const uint8_t *bytes = p;
	uint32_t size;

	text[0] = '\0';
	if (p == NULL)
		return msd_refuse("the %s is NULL", kind->name) == 0;
	memcpy(&size, bytes, sizeof(size));
	if (!is_size(kind, size)) {
		return msd_refuse("%s.size is %" PRIu32
				  ", expected %zu: set it to sizeof(%s)",
				  kind->name, size, kind->bytes, kind->name) == 0;
	}
	for (size_t i = 0; i < kind->n; i++) {
		const void *field;

		memcpy(&field, bytes + kind->fields[i].at, sizeof(field));
		if (field == NULL) {
			return msd_refuse("%s.%s is NULL", kind->name,
					  kind->fields[i].name) == 0;
		}
	}
	return true;
}

bool msd_sg_attr_is_whole(const modser_sg_attr *a)
{
	if (a == NULL)
		return false;
	switch (a->kind) {
	case MODSER_ATTR_STR:
		return a->as.s != NULL;
	case MODSER_ATTR_INTS:
		return a->n == 0 || a->as.ints != NULL;
	case MODSER_ATTR_FLOATS:
		return a->n == 0 || a->as.floats != NULL;
	case MODSER_ATTR_GRAPH:
		return a->as.graph != NULL;
	case MODSER_ATTR_INT:
	case MODSER_ATTR_FLOAT:
		break;
	}
	return true;
}
