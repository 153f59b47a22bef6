#include "proto/words/device_list.h"

#include <stdio.h>

/* Return the bytes before the next comma. */
static size_t part_of(struct msd_span text)
{
	size_t n = 0;

	while (n < text.n && text.p[n] != ',')
		n++;
	return n;
}

bool msd_device_list_parse(struct msd_span text, struct msd_device_list *ret)
{
	*ret = (struct msd_device_list){0};
	for (;;) {
		const size_t n = part_of(text);
		struct msd_device device;

		if (ret->n == MSD_DEVICE_LIST_MAX ||
		    !msd_device_parse((const char *)text.p, n, &device) ||
		    (ret->n > 0 && device.type != ret->at[0].type))
			return false;
		ret->at[ret->n++] = device;
		if (n == text.n)
			return true;
		text = (struct msd_span){text.p + n + 1, text.n - n - 1};
	}
}

const char *msd_device_list_format(const struct msd_device_list *s,
				   char buf[static MSD_DEVICE_LIST_TEXT_MAX])
{
	char type[MSD_DTYPE_NAME_MAX];
	size_t at = 0;

	buf[0] = '\0';
	for (uint32_t i = 0; i < s->n; i++) {
		at += (size_t)snprintf(buf + at, MSD_DEVICE_LIST_TEXT_MAX - at,
				       "%s%s:%d", i > 0 ? "," : "",
				       msd_device_type_format(s->at[i].type, type),
				       s->at[i].id);
	}
	return buf;
}

struct msd_device msd_device_list_at(const struct msd_device_list *s, uint32_t i)
{
	return s->n > 0 ? s->at[i % s->n] : (struct msd_device){0};
}
