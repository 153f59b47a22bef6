/*
 * The error of a thread.
 *
 * Happy path: a raised error becomes an object with copies of kind and message. A
 * library takes the object and may raise it again; the caller of the first function
 * gets its text. Failures: without memory for the object one is raised that always
 * exists.
 */
#include "runtime/value/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_TRACE (256u * 1024u) /* bytes of a backtrace; the rest is dropped */

static void update_backtrace(void *self, const struct msd_bytes *more, int32_t mode)
{
	struct msd_error *e = self;
	const size_t before = mode == 1 ? e->backtrace.size : 0;
	const size_t n =
		more->size < MAX_TRACE - before ? more->size : MAX_TRACE - before;
	char *text = malloc(before + n + 1);

	if (text == NULL)
		return; /* the error is worth more than its trace */
	if (before > 0)
		memcpy(text, e->backtrace.data, before);
	if (n > 0)
		memcpy(text + before, more->data, n);
	text[before + n] = '\0';
	free(e->traced);
	e->traced = text;
	e->backtrace = (struct msd_bytes){text, before + n};
}

static void error_delete(void *self, int flags)
{
	struct msd_error *e = self;

	if (flags & MSD_STRONG_GONE) {
		msd_obj_unref(e->cause);
		msd_obj_unref(e->context);
		free(e->traced);
	}
	if (flags & MSD_WEAK_GONE)
		free(e);
}

/* Used when the real error could not be allocated; never freed. Its backtrace cannot
 * change, because all threads share it. */
static void keep_backtrace(void *self, const struct msd_bytes *more, int32_t mode)
{
	(void)self, (void)more, (void)mode;
}

static struct msd_error out_of_memory = {
	.obj = {.counts = MSD_FRESH_COUNTS, .type = MSD_T_ERROR},
	.kind = {"MemoryError", 11},
	.message = {"out of memory", 13},
	.backtrace = {"", 0},
	.update_backtrace = keep_backtrace,
	.code = MSD_NOMEM,
};

static _Thread_local struct msd_error *pending; /* owned */

void msd_abi_attach(struct msd_error *e)
{
	struct msd_error *old = pending;

	if (e == NULL)
		return;
	pending = e;
	if (old != NULL)
		msd_obj_unref(&old->obj);
}

struct msd_error *msd_abi_detach(void)
{
	struct msd_error *e = pending;

	pending = NULL;
	return e;
}

struct msd_error *msd_error_new(struct msd_span kind, struct msd_span message)
{
	struct msd_error *e;
	size_t n;

	if (!msd_add_size(kind.n, message.n, &n) ||
	    !msd_add_size(n, sizeof(*e) + 2, &n))
		return NULL;
	e = malloc(n);
	if (e == NULL)
		return NULL;
	*e = (struct msd_error){.update_backtrace = update_backtrace,
				.backtrace = {"", 0},
				.code = MSD_CALL_FAILED,
				.has_kind = kind.n > 0};
	msd_obj_init(&e->obj, MSD_T_ERROR, error_delete);
	char *at = e->text;
	if (kind.n > 0)
		memcpy(at, kind.p, kind.n);
	at[kind.n] = '\0';
	e->kind = (struct msd_bytes){at, kind.n};
	at += kind.n + 1;
	if (message.n > 0)
		memcpy(at, message.p, message.n);
	at[message.n] = '\0';
	e->message = (struct msd_bytes){at, message.n};
	return e;
}

int msd_abi_raise_bytes(const char *kind, struct msd_span message)
{
	struct msd_span name = kind != NULL ? msd_span_of(kind) : (struct msd_span){0};

	if (name.n + 2 >= MSD_DIAG_MAX) /* not a kind: drop it, keep the message */
		name.n = 0;
	if (message.n > MSD_DIAG_MAX)
		message.n = MSD_DIAG_MAX;
	struct msd_error *e = msd_error_new(name, message);
	msd_abi_attach(e != NULL ? e : &out_of_memory);
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
	if (pending != &out_of_memory) {
		pending->code = code;
		/* for handlers of libraries; the text does not begin with it */
		pending->kind = (struct msd_bytes){"RuntimeError", 12};
	}
	return -1;
}

int msd_abi_no_memory(void)
{
	msd_abi_attach(&out_of_memory);
	return -1;
}

static msd_err put_text(struct msd_diag *d, msd_err code, const struct msd_error *e,
			bool has_kind)
{
	const size_t most = MSD_DIAG_MAX;
	const size_t head = has_kind && e->kind.size + 2 < most ? e->kind.size + 2 : 0;
	const size_t n = e->message.size < most - head ? e->message.size : most - head;

	(void)msd_diag_set_bytes(d, code, e->message.data, n);
	if (head > 0) {
		(void)msd_diag_wrap(d, code, "%.*s", (int)e->kind.size, e->kind.data);
		msd_diag_begins_with_kind(d, e->kind.size);
	}
	return code;
}

msd_err msd_abi_fetch_error(struct msd_diag *d)
{
	struct msd_error *e = msd_abi_detach();
	msd_err code = MSD_CALL_FAILED;

	if (e == NULL)
		return msd_diag_set(d, code, "failed without an error text");
	if (e == &out_of_memory || e->obj.deleter == error_delete) { /* ours */
		code = put_text(d, e->code, e, e->has_kind);
	} else {
		code = put_text(d, code, e, e->kind.size > 0);
	}
	msd_obj_unref(&e->obj);
	return code;
}

void msd_abi_clear(void)
{
	if (pending != NULL)
		msd_obj_unref(&msd_abi_detach()->obj);
}
