/*
 * The result of a request. Happy path: a small result is one block of memory from the
 * start of its request to modser_result_free(). A larger tree, the data of tensors
 * and the texts of errors are separate blocks. Failures: an error for which memory
 * runs out keeps its code and that code's default sentence.
 */
#include "client/result.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "client/hint.h"
#include "proto/limits.h"
#include "proto/value.h"

#define SAME_NUMBER(name, number, wire, sentence)                                      \
	_Static_assert((int)MODSER_##name == (int)MSD_##name, wire);
MSD_ERR_MAP(SAME_NUMBER)
#undef SAME_NUMBER
_Static_assert(MSD_ERR_COUNT == MODSER_NOT_VERIFIED + 1, "modser.h lacks a code");
_Static_assert(MODSER_TENSOR_ALIGN == MSD_TENSOR_ALIGN, "alignment");

void msd_error_of(msd_err code, const char *message, modser_error *ret)
{
	ret->code = (modser_err)code;
	ret->name = msd_err_name(code);
	ret->message = message != NULL ? message : msd_err_sentence(code);
	ret->hint = msd_hint(MSD_M_COUNT, code);
}

modser_result *msd_result_create(uint64_t id)
{
	modser_result *r = malloc(sizeof(*r));

	if (r != NULL) {
		memset(r, 0, offsetof(modser_result, room));
		r->id = id;
		msd_error_of(MSD_OK, NULL, &r->error);
	}
	return r;
}

void *msd_result_tree(modser_result *r, size_t bytes)
{
	if (bytes <= sizeof(r->room)) {
		r->tree = r->room;
		r->tree_bytes = (uint32_t)bytes;
	} else {
		r->tree = malloc(bytes);
	}
	return r->tree;
}

bool msd_result_is_small(const modser_result *r)
{
	return r->tree == r->room;
}

void msd_result_fail(modser_result *r, msd_err code, const char *message)
{
	char *copy = message != NULL ? strdup(message) : NULL;

	free(r->text);
	r->text = copy;
	r->is_reply = false;
	msd_error_of(code, copy, &r->error);
}

static char *copy_span(char *at, struct msd_span s)
{
	if (s.n > 0)
		memcpy(at, s.p, s.n);
	at[s.n] = '\0';
	return at;
}

void msd_result_advise(modser_result *r, const char *hint)
{
	char *copy = strdup(hint);

	if (copy == NULL)
		return;
	free(r->hint);
	r->hint = copy;
	r->error.hint = copy;
}

/* Details of an error; zero if absent. */
struct details {
	uint32_t retry_after_ms;
	struct msd_span hint;
};

static struct details read_details(struct msd_span details)
{
	struct msd_wire_value key, value;
	struct details found = {0};
	struct msd_cur c;
	uint32_t n;

	if (details.n == 0 || !msd_map_open(details, &c, &n))
		return found;
	while (n-- > 0 && msd_value_read(&c, &key, NULL) == MSD_OK &&
	       key.kind == MSD_K_STR && msd_value_read(&c, &value, NULL) == MSD_OK) {
		if (msd_span_is(key.as.str, "retry_after_ms") &&
		    value.kind == MSD_K_INT && value.as.i > 0) {
			found.retry_after_ms = value.as.i < UINT32_MAX
						       ? (uint32_t)value.as.i
						       : UINT32_MAX;
		}
		if (msd_span_is(key.as.str, "hint") && value.kind == MSD_K_STR)
			found.hint = value.as.str;
	}
	return found;
}

void msd_result_fail_body(modser_result *r, enum msd_method method,
			  const struct msd_body_error *e)
{
	/* A code that this build does not know keeps the name that the daemon sent. */
	const struct details said = read_details(e->details);
	char *text = malloc(e->name.n + e->message.n + said.hint.n + 3);

	free(r->text);
	r->text = text;
	r->is_reply = true;
	r->retry_after_ms = said.retry_after_ms;
	msd_error_of(e->code, NULL, &r->error);
	r->error.hint = msd_hint(method, e->code);
	if (e->code == MSD_BUSY && r->retry_after_ms == 0 &&
	    r->error.hint == msd_hint(MSD_M_COUNT, MSD_BUSY))
		r->error.hint = MSD_HINT_NO_TIME;
	if (text == NULL)
		return;
	r->error.name = copy_span(text, e->name);
	r->error.message = copy_span(text + e->name.n + 1, e->message);
	if (said.hint.n > 0) {
		r->error.hint =
			copy_span(text + e->name.n + e->message.n + 2, said.hint);
	}
}

uint64_t modser_result_id(const modser_result *result)
{
	return result != NULL ? result->id : 0;
}

uint64_t modser_result_exec_ns(const modser_result *result)
{
	return result != NULL ? result->exec_ns : 0;
}

bool modser_result_trace(const modser_result *result, modser_trace *ret)
{
	if (result == NULL || result->trace.total_ns == 0)
		return false;
	*ret = result->trace;
	return true;
}

const modser_error *modser_result_error(const modser_result *result)
{
	static const modser_error no_memory = {MODSER_NOMEM, "NO_MEMORY",
					       "out of memory", "free memory"};

	return result != NULL ? &result->error : &no_memory;
}

const modser_value *modser_result_value(const modser_result *result)
{
	if (result == NULL || result->error.code != MODSER_OK)
		return NULL;
	return &result->root;
}

void modser_result_free(modser_result *result)
{
	if (result == NULL)
		return;
	free(result->text);
	free(result->hint);
	if (!msd_result_is_small(result))
		free(result->tree);
	free(result->block);
	free(result);
}
