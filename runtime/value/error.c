#include "runtime/value/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct msd_abi_error {
	msd_err code;
	size_t len;
	char text[];
};

/* Used when the real error could not be allocated; never freed, has no text. */
static struct msd_abi_error out_of_memory = {.code = MSD_NOMEM};

static _Thread_local struct msd_abi_error *pending; /* owned */

static void error_free(struct msd_abi_error *e)
{
	if (e != &out_of_memory)
		free(e);
}

void msd_abi_attach(struct msd_abi_error *e)
{
	if (e == NULL)
		return;
	error_free(pending);
	pending = e;
}

struct msd_abi_error *msd_abi_detach(void)
{
	struct msd_abi_error *e = pending;

	pending = NULL;
	return e;
}

static struct msd_abi_error *error_new(msd_err code, size_t len)
{
	struct msd_abi_error *e = malloc(sizeof(*e) + len + 1);

	if (e == NULL)
		return &out_of_memory;
	e->code = code;
	e->len = len;
	return e;
}

int msd_abi_raise_bytes(const char *kind, struct msd_span message)
{
	const size_t head = kind != NULL && kind[0] != '\0' ? strlen(kind) + 2 : 0;
	size_t n = message.n;

	if (head >= MSD_DIAG_MAX) /* not a kind: drop it, keep the message */
		return msd_abi_raise_bytes(NULL, message);
	if (n > MSD_DIAG_MAX - head)
		n = MSD_DIAG_MAX - head;
	struct msd_abi_error *e = error_new(MSD_CALL_FAILED, head + n);
	if (e != &out_of_memory) {
		if (head > 0) {
			memcpy(e->text, kind, head - 2);
			memcpy(e->text + head - 2, ": ", 2);
		}
		if (n > 0)
			memcpy(e->text + head, message.p, n);
		e->text[head + n] = '\0';
	}
	msd_abi_attach(e);
	return -1;
}

static char *format_new(const char *fmt, va_list ap)
	__attribute__((format(printf, 1, 0)));
static char *format_new(const char *fmt, va_list ap)
{
	char *text;

	return vasprintf(&text, fmt, ap) < 0 ? NULL : text;
}

/* Takes ownership of @text; NULL means that memory is short. */
static void raise_text(const char *kind, char *text)
{
	if (text == NULL) {
		msd_abi_attach(&out_of_memory);
		return;
	}
	(void)msd_abi_raise_bytes(kind, msd_span_of(text));
	free(text);
}

int msd_abi_raise(const char *kind, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	raise_text(kind, format_new(fmt, ap));
	va_end(ap);
	return -1;
}

int msd_abi_raise_code(msd_err code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	raise_text(NULL, format_new(fmt, ap));
	va_end(ap);
	if (pending != &out_of_memory)
		pending->code = code;
	return -1;
}

int msd_abi_no_memory(void)
{
	msd_abi_attach(&out_of_memory);
	return -1;
}

msd_err msd_abi_fetch_error(struct msd_diag *d)
{
	struct msd_abi_error *e = msd_abi_detach();
	msd_err code;

	if (e == NULL)
		return msd_diag_set(d, MSD_CALL_FAILED, "failed without an error text");
	code = e->code;
	if (e == &out_of_memory) {
		(void)msd_diag_set(d, code, "out of memory");
	} else {
		(void)msd_diag_set_bytes(d, code, e->text, e->len);
	}
	error_free(e);
	return code;
}

void msd_abi_clear(void)
{
	if (pending != NULL)
		error_free(msd_abi_detach());
}
