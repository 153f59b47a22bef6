/* Collect facts: keys and printable texts, and names that other modules may look up. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "artifact/kind/payload.h"
#include "artifact/printable.h"
#include "proto/base/grow.h"

/* Take ownership of @text's bytes as a fact's value; @text is finished either way. */
static bool take_fact(struct msd_payload_info *info, const char *key,
		      struct msd_buf *text)
{
	char *copy = strdup(key);

	msd_buf_put_u8(text, '\0');
	if (copy == NULL || text->bad ||
	    !msd_grow(&info->facts, info->n_facts, sizeof(*info->facts))) {
		free(copy);
		msd_buf_finish(text);
		return false;
	}
	info->facts[info->n_facts++] =
		(struct msd_payload_fact){.key = copy, .value = (char *)text->p};
	return true;
}

bool msd_payload_info_add_bytes(struct msd_payload_info *info, const char *key,
				struct msd_span value)
{
	struct msd_buf text = {0};

	msd_printable_put(&text, value);
	return take_fact(info, key, &text);
}

bool msd_payload_info_add(struct msd_payload_info *info, const char *key,
			  const char *fmt, ...)
{
	char *raw = NULL;
	va_list ap;

	va_start(ap, fmt);
	int n = vasprintf(&raw, fmt, ap);
	va_end(ap);
	if (n < 0)
		return false;
	bool ok = msd_payload_info_add_bytes(
		info, key, (struct msd_span){(uint8_t *)raw, (size_t)n});
	free(raw);
	return ok;
}

bool msd_payload_info_offer(struct msd_payload_info *info, struct msd_span name)
{
	char *text = msd_printable_copy(name);

	if (text == NULL ||
	    !msd_grow(&info->offers, info->n_offers, sizeof(*info->offers))) {
		free(text);
		return false;
	}
	info->offers[info->n_offers++] = text;
	return true;
}

void msd_payload_info_finish(struct msd_payload_info *info)
{
	if (info == NULL)
		return;
	for (size_t i = 0; i < info->n_facts; i++) {
		free(info->facts[i].key);
		free(info->facts[i].value);
	}
	free(info->facts);
	for (size_t i = 0; i < info->n_offers; i++)
		free(info->offers[i]);
	free(info->offers);
	*info = (struct msd_payload_info){0};
}
