#include "proto/base/diag.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void msd_diag_finish(struct msd_diag *d)
{
	if (d == NULL)
		return;
	free(d->text);
	*d = (struct msd_diag){0};
}

/* Take @text (NULL if the allocation failed) as the new contents. */
static void diag_take(struct msd_diag *d, msd_err code, char *text, size_t len)
{
	free(d->text);
	d->code = code;
	d->text = text;
	d->len = text != NULL ? len : 0;
	d->kind_len = 0;
	d->retry_after_ms = 0;
	d->hint = NULL;
}

/* printf into a new block, cut at MSD_DIAG_MAX; NULL if memory is short. */
__attribute__((format(printf, 1, 0))) static char *
format_new(const char *fmt, va_list ap, size_t *ret_len)
{
	va_list again;
	char *text;
	int n;

	va_copy(again, ap);
	n = vsnprintf(NULL, 0, fmt, again);
	va_end(again);
	if (n < 0)
		return NULL;
	*ret_len = (size_t)n < MSD_DIAG_MAX ? (size_t)n : MSD_DIAG_MAX;
	text = malloc(*ret_len + 1);
	if (text != NULL)
		(void)vsnprintf(text, *ret_len + 1, fmt, ap);
	return text;
}

msd_err msd_diag_set(struct msd_diag *d, msd_err code, const char *fmt, ...)
{
	size_t len = 0;
	va_list ap;

	if (d == NULL)
		return code;
	va_start(ap, fmt);
	char *text = format_new(fmt, ap, &len); /* before free: args may use d->text */
	va_end(ap);
	diag_take(d, code, text, len);
	return code;
}

msd_err msd_diag_no_memory(struct msd_diag *d)
{
	if (d != NULL)
		diag_take(d, MSD_NOMEM, NULL, 0); /* needs no allocation */
	return MSD_NOMEM;
}

msd_err msd_diag_set_bytes(struct msd_diag *d, msd_err code, const char *text,
			   size_t len)
{
	if (d == NULL)
		return code;
	if (len > MSD_DIAG_MAX)
		len = MSD_DIAG_MAX;
	char *copy = malloc(len + 1);
	if (copy != NULL) {
		memcpy(copy, text, len);
		copy[len] = '\0';
	}
	diag_take(d, code, copy, len);
	return code;
}

msd_err msd_diag_wrap(struct msd_diag *d, msd_err err, const char *fmt, ...)
{
	size_t len = 0;
	va_list ap;

	if (d == NULL)
		return err;
	const uint64_t retry_after_ms = d->retry_after_ms;
	const char *hint = d->hint;
	const uint8_t kind_len = d->kind_len;
	va_start(ap, fmt);
	char *prefix = format_new(fmt, ap, &len);
	va_end(ap);
	if (prefix == NULL)
		return err;
	(void)msd_diag_set(d, err, "%s: %s", prefix, msd_diag_text(d));
	d->retry_after_ms = retry_after_ms;
	d->hint = hint;
	d->kind_len = (d->len < MSD_DIAG_MAX ? kind_len : 0) & 0xff; /* it may be cut */
	free(prefix);
	return err;
}

void msd_diag_begins_with_kind(struct msd_diag *d, size_t len)
{
	if (d == NULL || len > UINT8_MAX || len > d->len || d->len > UINT16_MAX)
		return;
	d->kind_len = (uint8_t)len;
	d->kind_back = (uint16_t)d->len;
}

const char *msd_diag_kind(const struct msd_diag *d, size_t *ret_len)
{
	*ret_len = d->text != NULL && d->kind_back <= d->len ? d->kind_len : 0;
	return *ret_len > 0 ? d->text + d->len - d->kind_back : "";
}

const char *msd_diag_text(const struct msd_diag *d)
{
	return d->text != NULL ? d->text : msd_err_sentence(d->code);
}
