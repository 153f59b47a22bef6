#include "client/hint.h"

#include <stddef.h>

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

/* Overrides where the hint of the code would mislead the user. */
static const struct {
	enum msd_method method;
	msd_err code;
	const char *hint;
} special[] = {
	{MSD_M_MODULE_LOAD, MSD_BAD_ARGUMENT,
	 "correct what the text names; `modser help load` explains the options"},
	{MSD_M_MODULE_PULL, MSD_BAD_ARGUMENT,
	 "correct what the text names; `modser help pull` explains the options"},
	{MSD_M_MODULE_PULL, MSD_NOT_FOUND,
	 "check the URI: a file or server that the daemon's machine has"},
	{MSD_M_MODULE_LOAD, MSD_UNSUPPORTED,
	 "do what the text says; `modser devices` and `modser inspect FILE` show what "
	 "there is"},
	{MSD_M_MODULE_ROLLBACK, MSD_UNSUPPORTED, "do what the text says"},
	{MSD_M_STORE_LIST, MSD_UNSUPPORTED,
	 "start the daemon with --store DIR, or give the folder of one: -d DIR"},
	{MSD_M_MODULE_PULL, MSD_EXISTS, "wait until it is there: `modser wait NAME`"},
	{MSD_M_MODULE_PULL, MSD_UNSUPPORTED,
	 "do what the text says, or bring the file yourself: `modser load NAME FILE`"},
	{MSD_M_MODULE_PULL, MSD_BAD_ARTIFACT,
	 "of a manifest, correct in FILE.json what the text names; else look at what "
	 "the "
	 "URI names with `modser inspect FILE`"},
	{MSD_M_MODULE_PULL, MSD_IO,
	 "check the URI, and the way to it from the daemon's machine; of a store, its "
	 "disk"},
	{MSD_M_MODULE_PULL, MSD_BUSY,
	 "try again later; a store that another process writes to is that one's: end "
	 "it, or start this daemon with a folder of its own, --store DIR"},
	{MSD_M_CLIENT_KILL, MSD_NOT_FOUND, "`modser clients` lists the connections"},
	{MSD_M_ACL_DRY_RUN, MSD_NOT_FOUND,
	 "`modser acl list` has the users, `modserd --api` the methods"},
	{MSD_M_SERVER_RELOAD, MSD_BAD_REQUEST,
	 "correct it and say `modser reload` again; until then all is as it was"},
	{MSD_M_STORE_PIN, MSD_NOT_FOUND, "`modser store ls` lists what is there"},
	{MSD_M_MODULE_ROLLBACK, MSD_NOT_FOUND,
	 "a module of `modser ls` has a previous edition once `modser load --keep` or "
	 "`modser pull` has replaced it"},
	{MSD_M_MODULE_ROLLBACK, MSD_BAD_ARTIFACT,
	 "`modser store verify` names all that is damaged; bring that edition anew "
	 "with `modser load --keep` or `modser pull`"},
};

/* True for methods that concern the operator's setup, and no file or device. */
static bool is_of_operator(enum msd_method method)
{
	return method == MSD_M_ACL_LIST || method == MSD_M_ACL_LOG ||
	       method == MSD_M_ACL_DRY_RUN || method == MSD_M_STORE_LIST ||
	       method == MSD_M_STORE_VERIFY || method == MSD_M_STORE_COLLECT ||
	       method == MSD_M_STORE_PIN || method == MSD_M_MODULE_ROLLBACK;
}

const char *msd_hint(enum msd_method method, msd_err code)
{
	for (size_t i = 0; i < sizeof(special) / sizeof(special[0]); i++) {
		if (special[i].method == method && special[i].code == code)
			return special[i].hint;
	}
	if (code == MSD_UNSUPPORTED && is_of_operator(method))
		return hints[MSD_REFUSED];
	if (code == MSD_IO &&
	    method != MSD_M_COUNT) /* not an error of this connection */
		return "see the daemon's log, and what the text names";
	return (unsigned)code < MSD_ERR_COUNT ? hints[code]
					      : "see the daemon's documentation";
}
