#include "client/hint.h"

#include <stddef.h>

static const char *const hints[MSD_ERR_COUNT] = {
	[MSD_OK] = "no action needed",
	[MSD_NOMEM] = "free memory, or send smaller tensors",
	[MSD_PROTOCOL] =
		"check that the address belongs to modserd, of the same version",
	[MSD_BAD_REQUEST] =
		"correct what the text names; `modser help` lists what there is",
	[MSD_TOO_LARGE] = "send less at once, or raise the daemon's limit",
	[MSD_UNKNOWN_METHOD] = "the daemon is older than this client: update it",
	[MSD_UNKNOWN_OPTION] = "the daemon is older than this client: update it",
	[MSD_NOT_FOUND] =
		"`modser ls` lists the modules, `modser funcs NAME` their functions",
	[MSD_EXISTS] = "choose another name, or load with --replace",
	[MSD_NOT_READY] = "see `modser ls`, or wait with `modser wait NAME`",
	[MSD_DEADLINE] = "give more time with --deadline, or see `modser logs NAME`",
	[MSD_CANCELLED] = "send the request again",
	[MSD_STALE_HANDLE] = "look the object up again",
	[MSD_BAD_ARGUMENT] = "compare the arguments with `modser funcs NAME`",
	[MSD_CALL_FAILED] =
		"the text is the function's own; see also `modser logs NAME`",
	[MSD_BAD_ARTIFACT] = "look at the file with `modser inspect FILE`",
	[MSD_UNSUPPORTED] = "see `modser devices` and `modser inspect FILE`",
	[MSD_WORKER_LOST] = "see `modser logs NAME`; the module restarts by itself",
	[MSD_GPU_FAULT] = "see `modser logs NAME`; the module restarts by itself",
	[MSD_QUARANTINED] = "see `modser logs NAME`, then load a corrected module",
	[MSD_REFUSED] = "follow the text, or ask the daemon's operator",
	[MSD_NO_SPACE] = "unload modules, raise the limit, or free what the text names",
	[MSD_BUSY] = "try again later",
	[MSD_DRAINING] = "try again when the daemon or the module is back",
	[MSD_IO] = "check that modserd is running and its address",
	[MSD_INTERNAL] = "this is a bug in modserd: report it with its log",
	[MSD_MODULE_FAILED] = "see the cause in `modser ls` and `modser logs NAME`",
	[MSD_NOT_VERIFIED] = "do not use the file: ask the publisher of the model",
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
	 "check the URI: the daemon's machine must have the file or reach the server"},
	{MSD_M_MODULE_LOAD, MSD_UNSUPPORTED,
	 "docs/how-to/troubleshooting.md explains the text; `modser devices` lists the "
	 "devices, `modser inspect FILE` shows the file"},
	{MSD_M_MODULE_ROLLBACK, MSD_UNSUPPORTED, "follow the text"},
	{MSD_M_STORE_LIST, MSD_UNSUPPORTED,
	 "start the daemon with --store DIR, or give the folder of a store: -C DIR"},
	{MSD_M_MODULE_PULL, MSD_EXISTS, "wait for the module: `modser wait NAME`"},
	{MSD_M_MODULE_PULL, MSD_UNSUPPORTED,
	 "follow the text, or send the file yourself: `modser load NAME FILE`"},
	{MSD_M_MODULE_PULL, MSD_BAD_ARTIFACT,
	 "for a manifest, correct FILE.json; else check the file of the URI with "
	 "`modser inspect FILE`"},
	{MSD_M_MODULE_PULL, MSD_IO,
	 "check the URI and the network of the daemon's machine; for a store, its "
	 "disk"},
	{MSD_M_MODULE_PULL, MSD_BUSY,
	 "try again later; if another process uses the store, end it, or start this "
	 "daemon with another folder, --store DIR"},
	{MSD_M_CLIENT_KILL, MSD_NOT_FOUND, "`modser clients` lists the connections"},
	{MSD_M_ACL_DRY_RUN, MSD_NOT_FOUND,
	 "`modser acl list` lists the users, `modserd --api` the methods"},
	{MSD_M_SERVER_RELOAD, MSD_BAD_REQUEST,
	 "correct it and run `modser reload` again; until then the old configuration "
	 "applies"},
	{MSD_M_STORE_PIN, MSD_NOT_FOUND,
	 "`modser store ls` lists the modules of the store"},
	{MSD_M_MODULE_ROLLBACK, MSD_NOT_FOUND,
	 "a module of `modser ls` has a previous edition once `modser load --keep` or "
	 "`modser pull` has replaced it"},
	{MSD_M_MODULE_ROLLBACK, MSD_BAD_ARTIFACT,
	 "`modser store verify` lists the damage; load that edition again with `modser "
	 "load --keep` or `modser pull`"},
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
		return "see the daemon's log";
	return (unsigned)code < MSD_ERR_COUNT ? hints[code]
					      : "see the daemon's documentation";
}
