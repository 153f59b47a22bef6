#include "client/result.h"

#include <stdlib.h>
#include <string.h>

#include "proto/limits.h"

#define SAME_NUMBER(name, number, wire, sentence)                                      \
	_Static_assert((int)MODSER_##name == (int)MSD_##name, wire);
MSD_ERR_MAP(SAME_NUMBER)
#undef SAME_NUMBER
_Static_assert(MSD_ERR_COUNT == MODSER_NOT_VERIFIED + 1, "modser.h lacks a code");
_Static_assert(MODSER_TENSOR_ALIGN == MSD_TENSOR_ALIGN, "alignment");

static const char *const hints[MSD_ERR_COUNT] = {
	[MSD_OK] = "nothing to do",
	[MSD_NOMEM] = "free memory, or send smaller tensors",
	[MSD_PROTOCOL] = "check that the address is modserd's, of the same version",
	[MSD_BAD_REQUEST] =
		"correct what the text names; `modser help` lists what there is",
	[MSD_TOO_LARGE] = "send less at once, or raise the daemon's limit",
	[MSD_UNKNOWN_METHOD] = "the daemon is older than this client: update it",
	[MSD_UNKNOWN_OPTION] = "the daemon is older than this client: update it",
	[MSD_NOT_FOUND] = "see `modser ls` and `modser funcs NAME` for what there is",
	[MSD_EXISTS] = "choose another name, or load with --replace",
	[MSD_NOT_READY] = "see `modser ls`, or wait with `modser wait NAME`",
	[MSD_DEADLINE] = "give more time with --deadline, or see `modser logs NAME`",
	[MSD_CANCELLED] = "send the request again",
	[MSD_STALE_HANDLE] = "look the object up again",
	[MSD_BAD_ARGUMENT] = "compare the arguments with `modser funcs NAME`",
	[MSD_CALL_FAILED] =
		"the text is the function's own; see also `modser logs NAME`",
	[MSD_BAD_ARTIFACT] = "look at the file with `modser inspect FILE`",
	[MSD_UNSUPPORTED] =
		"see `modser devices` and `modser inspect FILE` for what there is",
	[MSD_WORKER_LOST] = "see `modser logs NAME`; the module restarts by itself",
	[MSD_GPU_FAULT] = "see `modser logs NAME`; the module restarts by itself",
	[MSD_QUARANTINED] = "see `modser logs NAME`, then load a corrected module",
	[MSD_REFUSED] = "do what the text says, or ask the daemon's operator",
	[MSD_NO_SPACE] = "unload what is not needed, or raise the daemon's limits",
	[MSD_BUSY] = "try again later",
	[MSD_DRAINING] = "try again when the daemon or the module is back",
	[MSD_IO] = "check that modserd is running and its address",
	[MSD_INTERNAL] = "this is a bug in modserd: report it with its log",
	[MSD_MODULE_FAILED] = "see the cause in `modser ls` and `modser logs NAME`",
	[MSD_NOT_VERIFIED] = "trust nothing of it: ask who publishes the model",
};

void msd_error_of(msd_err code, const char *message, modser_error *ret)
{
	bool known = (unsigned)code < MSD_ERR_COUNT;

	ret->code = (modser_err)code;
	ret->name = msd_err_name(code);
	ret->message = message != NULL ? message : msd_err_sentence(code);
	ret->hint = known ? hints[code] : "see the daemon's documentation";
}

modser_result *msd_result_create(uint64_t id)
{
	modser_result *r = calloc(1, sizeof(*r));

	if (r != NULL) {
		r->id = id;
		msd_error_of(MSD_OK, NULL, &r->error);
	}
	return r;
}

void msd_result_fail(modser_result *r, msd_err code, const char *message)
{
	char *copy = message != NULL ? strdup(message) : NULL;

	free(r->text);
	r->text = copy;
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

void msd_result_fail_body(modser_result *r, const struct msd_body_error *e)
{
	/* A number that this build lacks keeps the name that the daemon gave it. */
	char *text = malloc(e->name.n + e->message.n + 2);

	free(r->text);
	r->text = text;
	msd_error_of(e->code, NULL, &r->error);
	if (text == NULL)
		return;
	if (e->code == MSD_IO) /* of the daemon's, not of this connection */
		r->error.hint = "see the daemon's log, and what the text names";
	r->error.name = copy_span(text, e->name);
	r->error.message = copy_span(text + e->name.n + 1, e->message);
}

uint64_t modser_result_id(const modser_result *result)
{
	return result != NULL ? result->id : 0;
}

uint64_t modser_result_exec_ns(const modser_result *result)
{
	return result != NULL ? result->exec_ns : 0;
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
	free(result->tree);
	free(result->block);
	free(result);
}
