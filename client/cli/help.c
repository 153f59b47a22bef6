/*
 * Prints help from the tables. The words and options of a verb are in its row and in
 * the rows of the options (options.c), so help and parser always agree. This file
 * only has a short meaning of each option.
 */
#include "client/cli/help.h"

#include <stdio.h>
#include <string.h>

#include "client/cli/options.h"
#include "proto/words/run_options.h"

/* Options of a connection; not shown for a verb without one. */
#define OF_CONNECTION                                                                  \
	"host", "token-file", "tls-ca", "tls-cert", "tls-key", "deadline",             \
		"connect-timeout"

static const struct {
	const char *name;
	const char *value; /* placeholder of the value; "": no value */
	const char *text;
} meanings[] = {
	{"host", "ADDR", "unix:PATH, tcp:// or tls://HOST:PORT (else $MODSER_HOST)"},
	{"token-file", "FILE", "a file with your token (else $MODSER_TOKEN)"},
	{"tls-ca", "FILE", "authorities to trust (else $MODSER_TLS_CA)"},
	{"tls-cert", "FILE", "client certificate (else $MODSER_TLS_CERT)"},
	{"tls-key", "FILE", "its key (else $MODSER_TLS_KEY)"},
	{"json", "", "results and errors as JSON"},
	{"deadline", "TIME", "give up after TIME, such as 500ms, 5s, 2m"},
	{"connect-timeout", "TIME", "time limit for the daemon's first answer (10s)"},
	{"help", "", "explain all verbs, or one verb"},
	{"version", "", "print the version of modser"},
	{"plugin", "FILE", "open a shared object of formats first; repeatable"},
	{"output", "FILE", "write the result to FILE"},
	{"dir", "DIR", "the folder to work on"},
	{"dot", "", "print a graph for Graphviz"},
	{"dump", "", "print a framework's model completely"},
	{"plan", "", "print how each node of a framework's model would run"},
	{"vm", "", "list the programs of virtual machines"},
	{"check-daemon", "ADDR", "ask the daemon at ADDR whether it can run FILE"},
	{"cc", "COMMAND", "the C compiler, with its options"},
	{"library", "NAME", "link with it: -lm, -l openblas; repeatable"},
	{"symbol-prefix", "NAME", "the prefix of a system library's symbols"},
	{"split-params", "FILE", "write weights to FILE, which builds can share"},
	{"tvm-names", "", "name the weights as TVM does"},
	{"system-lib", "", "register the modules when a program starts"},
	{"replace", "", "replace a module of that name when this one is ready"},
	{"keep", "", "load it again whenever the daemon starts"},
#define RUN_ROW(NAME, member, KIND, parameter, fronts, key, former, wire, field,       \
		verbs, placeholder, meaning)                                           \
	{key, placeholder, meaning},
	MSD_RUN_CLIENT_KEY_MAP(RUN_ROW)
#undef RUN_ROW
		{"kill-on-exit", "", "kill the worker if modser ends early"},
	{"retry", "TIME", "send the call again during TIME if it did not start"},
	{"idempotent", "", "with --retry: also if it may have run already"},
	{"trace", "", "print where the call's time went in the daemon"},
	{"priority", "WORD", "low: let all other calls of the module go first; normal"},
	{"header", "", "print the columns' keys first, in a pipe"},
	{"long", "", "show all columns"},
	{"doc", "", "show the functions' documentation"},
	{"follow", "", "keep printing new lines"},
	{"tail", "N", "only the last N lines"},
	{"every", "N", "show one call of every N"},
	{"once", "", "print the totals since the start and exit"},
	{"connections", "N", "call over N connections (1)"},
	{"depth", "N", "keep N calls in flight on each connection (1)"},
	{"rate", "N", "call N times a second, without waiting for answers"},
	{"time", "TIME", "measure for TIME (3s)"},
	{"graph", "FILE", "a graph executor's graph.json, or a VM's program"},
	{"params", "FILE",
	 "parameters that the library does not hold; a folder: shards"},
	{"sha256", "HEX", "required SHA-256 of the file"},
	{"file", "NAME", "the file of an artifact that has several models"},
	{"manifest", "FILE", "use this file as the manifest"},
	{"sign", "KEY", "sign the manifest: minisign's secret key, in a file"},
	{"auth", "FILE", "names and passwords by host, as `docker login` writes them"},
	{"realm", "HOST[,...]",
	 "other servers that issue registry tokens and may "
	 "get the passwords"},
	{"external-data", "FILE", "a file of weights of an ONNX model; repeatable"},
	{"name", "NAME", "the model in an archive"},
	{"mlf-version", "5|7", "version of the written archive"},
};

/* Index of @name in the table, or the table's size. */
static size_t meaning_of(const char *name)
{
	const size_t n = sizeof(meanings) / sizeof(meanings[0]);
	size_t i = 0;

	while (i < n && strcmp(meanings[i].name, name) != 0)
		i++;
	return i;
}

static bool is_of_connection(const char *name)
{
	static const char *const names[] = {OF_CONNECTION};
	size_t i = 0;

	while (i < sizeof(names) / sizeof(names[0]) && strcmp(names[i], name) != 0)
		i++;
	return i < sizeof(names) / sizeof(names[0]);
}

static void print_option(const struct msd_option_row *o)
{
	const size_t at = meaning_of(o->name);
	char said[64];

	if (o->is_former || at == sizeof(meanings) / sizeof(meanings[0]))
		return;
	(void)snprintf(said, sizeof(said), "--%s%s%s", o->name, o->has_value ? " " : "",
		       meanings[at].value);
	if (o->letter != 0) {
		(void)printf("  -%c, %-23s %s\n", o->letter, said, meanings[at].text);
	} else {
		(void)printf("      %-23s %s\n", said, meanings[at].text);
	}
}

/* Print the options of @verb, or those that every verb takes. */
static void print_options(const struct msd_verb *verb, bool is_common)
{
	for (const struct msd_option_row *o = msd_options; o->name != NULL; o++) {
		const bool is_useless = verb != NULL && is_of_connection(o->name) &&
					(verb->options & MSD_OPT_OFFLINE) != 0;

		if (is_common ? o->needs == 0 && !is_useless
			      : o->needs != 0 && (o->needs & ~verb->options) == 0)
			print_option(o);
	}
}

static const struct {
	enum msd_exit code;
	const char *text;
	bool of_daemon; /* only for verbs that connect to a daemon */
	unsigned needs; /* enum msd_option: only for verbs with these options */
} exits[] = {
	{MSD_EXIT_OK, "success", false, 0},
	{MSD_EXIT_REMOTE, "error of the daemon, the function or a compiler", false, 0},
	{MSD_EXIT_USAGE, "wrong command line, or unreadable file", false, 0},
	{MSD_EXIT_CONNECT, "no connection, or connection lost", true, 0},
	{MSD_EXIT_NOT_FOUND, "no such module, function or file", false, 0},
	{MSD_EXIT_NOT_READY, "module or daemon not ready", true, 0},
	{MSD_EXIT_REFUSED, "not allowed", false, 0},
	{MSD_EXIT_NOT_VERIFIED, "wrong digest or signature", true, MSD_OPT_PULL},
	{MSD_EXIT_BAD_FILE, "file damaged, or not supported", false, 0},
	{MSD_EXIT_DEADLINE, "past the deadline", true, 0},
	{MSD_EXIT_INTERRUPTED, "interrupted", false, 0},
};

static void print_exits(const struct msd_verb *verb)
{
	const bool is_offline = verb != NULL && (verb->options & MSD_OPT_OFFLINE) != 0;

	(void)printf("\nExit codes:\n");
	for (size_t i = 0; i < sizeof(exits) / sizeof(exits[0]); i++) {
		const bool is_other =
			verb != NULL && (exits[i].needs & ~verb->options) != 0;

		if (!is_other && !(exits[i].of_daemon && is_offline))
			(void)printf("  %3d  %s\n", (int)exits[i].code, exits[i].text);
	}
}

static void print_verbs(void)
{
	static const char *const titles[] = {[MSD_GROUP_MODELS] = "Models",
					     [MSD_GROUP_CALLS] = "Calls",
					     [MSD_GROUP_OBSERVE] = "Observe",
					     [MSD_GROUP_ADMINISTER] = "Administer",
					     [MSD_GROUP_OFFLINE] =
						     "Offline tools and help"};

	for (unsigned i = 0; i < sizeof(titles) / sizeof(titles[0]); i++) {
		(void)printf("%s%s:\n", i > 0 ? "\n" : "", titles[i]);
		for (const struct msd_verb *v = msd_verbs; v->name != NULL; v++) {
			if (v->group == (enum msd_group)i)
				(void)printf("  %-11s %s\n", v->name, v->summary);
		}
	}
}

void msd_help_print(const struct msd_verb *verb)
{
	const struct msd_verb *v = verb;

	if (v != NULL) {
		(void)printf("usage: modser %s%s%s\n%c%s.\n%s", v->name,
			     v->synopsis[0] != '\0' ? " " : "", v->synopsis,
			     v->summary[0] - 'a' + 'A', v->summary + 1, v->help);
	} else {
		(void)printf("usage: modser [OPTION]... VERB [WORD]...\n"
			     "Talk to modserd: load models and libraries, call their "
			     "functions.\n\n");
		print_verbs();
	}
	(void)printf("\nOptions:\n");
	if (verb != NULL)
		print_options(verb, false);
	print_options(verb, true);
	print_exits(verb);
}
