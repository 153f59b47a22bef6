/* The verbs of modser in one table: words, options, help and function of each. A help
 * text of more than a few lines is in texts.c. */
#include "client/cli/cli.h"
#include "client/cli/texts.h"
#include "proto/words/external_data.h"
#include "proto/words/run_options.h"

#define FLAG_WORD(key, placeholder) "[--" key "] "
#define VALUE_WORD(key, placeholder) "[--" key " " placeholder "] "
#define DEVICES_WORD VALUE_WORD
#define COUNT_WORD VALUE_WORD
#define WORD_WORD VALUE_WORD
#define TIME_WORD VALUE_WORD
#define TEXT_WORD VALUE_WORD
#define RUN_WORD(NAME, member, KIND, parameter, fronts, key, former, wire, field,      \
		 verbs, placeholder, meaning)                                          \
	KIND##_WORD(key, placeholder)
#define RUN_WORDS MSD_RUN_CLIENT_KEY_MAP(RUN_WORD)

#define MANY 4096 /* words: more than the arguments of any call */

const struct msd_verb msd_verbs[] = {
	{"load",
	 "[--replace] [--keep] " RUN_WORDS
	 "[--graph FILE] [--params FILE] [--external-data FILE] "
	 "[-l NAME] NAME FILE...",
	 "upload a library, a model or an archive and load it as NAME", msd_text_load,
	 2, 1 + MSD_EXTERNAL_DATA_MAX,
	 MSD_OPT_LOAD | MSD_OPT_WITH | MSD_OPT_LINK | MSD_OPT_RUN | MSD_OPT_DEVICE |
		 MSD_OPT_GRAPH | MSD_OPT_PARAMS | MSD_OPT_ERA | MSD_OPT_MODEL,
	 msd_verb_load, MSD_GROUP_MODELS},
	{"pull", "[--sha256 HEX] [--file NAME] " RUN_WORDS "NAME URI",
	 "let the daemon fetch a module into its store and load it as NAME",
	 msd_text_pull, 2, 2,
	 MSD_OPT_PULL | MSD_OPT_RUN | MSD_OPT_DEVICE | MSD_OPT_ERA | MSD_OPT_MODEL,
	 msd_verb_pull, MSD_GROUP_MODELS},
	{"push",
	 "[--sign KEY] [--auth FILE] [--realm HOST] [--manifest FILE] [--graph FILE] "
	 "[--params FILE] FILE URI",
	 "send a module and its manifest to a registry", msd_text_push, 2, 2,
	 MSD_OPT_PUSH | MSD_OPT_GRAPH | MSD_OPT_PARAMS | MSD_OPT_OFFLINE, msd_verb_push,
	 MSD_GROUP_MODELS},
	{"ls", "[-l] [--header]", "list the modules with their states",
	 "Also called ps and list. MEM is the memory of the module's processes. P50 "
	 "and P99\n"
	 "are the median and the 99th percentile of its run times, exact to a factor "
	 "of two.\n"
	 "-l shows all columns: queued are the calls that wait for a worker, in_flight "
	 "also\n"
	 "those that run. In a pipe, tabs separate the cells, sizes are bytes, times "
	 "are\n"
	 "nanoseconds, and --header prints the names of the columns first. On a "
	 "narrow\n"
	 "terminal each cell has its own line.\n",
	 0, 0, MSD_OPT_TABLE | MSD_OPT_LONG, msd_verb_ls, MSD_GROUP_MODELS},
	{"show", "NAME...", "show a module: file, state, tree, functions", "", 1, MANY,
	 0, msd_verb_show, MSD_GROUP_MODELS},
	{"funcs", "[--doc] [--header] NAME...",
	 "list a module's functions with their signatures",
	 "Also called functions. The model, which `modser call NAME` calls, is the "
	 "first.\n"
	 "--doc prints the documentation that the library "
	 "contains for\n"
	 "functions that C++ code exports with the macros of tvm-ffi.\n",
	 1, MANY, MSD_OPT_TABLE | MSD_OPT_DOC, msd_verb_funcs, MSD_GROUP_MODELS},
	{"wait", "NAME...", "wait until a module is ready or has failed", "", 1, MANY,
	 0, msd_verb_wait, MSD_GROUP_MODELS},
	{"sleep", "NAME...", "end the processes of an idle module until the next call",
	 "With --keep-alive TIME, or keep-alive in its section, a module does so by "
	 "itself;\n"
	 "UNTIL in `modser ls` is the time that is left. A module that is in use is "
	 "not "
	 "ended.\n",
	 1, MANY, 0, msd_verb_sleep, MSD_GROUP_MODELS},
	{"rollback", "NAME...", "serve the previous edition of a module",
	 "For modules in the daemon's store (`modser load --keep`, `modser pull`). "
	 "The\n"
	 "current edition serves until the previous one is ready. Another rollback "
	 "undoes\n"
	 "this one. Exit code 4: there is no previous edition; 8: it is damaged, or "
	 "cannot\n"
	 "be loaded.\n",
	 1, MANY, 0, msd_verb_rollback, MSD_GROUP_MODELS},
	{"unload", "NAME...", "unload a module and wait until its processes have ended",
	 "Also called rm.\n", 1, MANY, 0, msd_verb_unload, MSD_GROUP_MODELS},
	{"call",
	 "[--device DEVICE] [--kill-on-exit] [--priority WORD] [--trace] "
	 "[--retry TIME [--idempotent]] FUNCTION [ARGUMENT...] [as WORD] [then ...] "
	 "[-o "
	 "FILE]...",
	 "call a function", msd_text_call, 1, MANY,
	 MSD_OPT_OUTPUT | MSD_OPT_DEVICE | MSD_OPT_CALL | MSD_OPT_TRACE | MSD_OPT_RETRY,
	 msd_verb_call, MSD_GROUP_CALLS},
	{"session",
	 "[--kill-on-exit] NAME FUNC [ARGUMENT...] [then FUNC [ARGUMENT...]]... [-o "
	 "FILE]...",
	 "call functions of an executor that keeps its inputs and outputs",
	 msd_text_session, 2, MANY, MSD_OPT_OUTPUT | MSD_OPT_CALL, msd_verb_session,
	 MSD_GROUP_CALLS},
	{"bench",
	 "[-c N] [--depth N | --rate N] [--time TIME] [--device DEVICE] FUNCTION "
	 "[ARGUMENT...]",
	 "measure the speed of a function from here", msd_text_bench, 1, MANY,
	 MSD_OPT_BENCH | MSD_OPT_DEVICE, msd_verb_bench, MSD_GROUP_CALLS},
	{"profile", "FUNCTION [ARGUMENT...] [-o FILE]",
	 "measure each node of a framework's model in one call",
	 "Runs the model once, when no other call waits, with the arguments of "
	 "`modser call`,\n"
	 "and prints the time of each operator and each node, its share, and its "
	 "billions of\n"
	 "operations a second (GFLOP/S). `in reference` is the share of nodes that run "
	 "in the\nslow engine; `modser show` has the reason (FALLBACK). `layout "
	 "changes` "
	 "is the share of\nnodes that only move elements, and of changes between the "
	 "layouts of engines. -o writes\na trace for chrome://tracing or "
	 "ui.perfetto.dev. You need the right to administer.\n"
	 "docs/how-to/slow-models.md tells what to do about slow nodes.\n",
	 1, MANY, MSD_OPT_OUTPUT, msd_verb_profile, MSD_GROUP_CALLS},
	{"ping", "", "measure a round trip to the daemon", "", 0, 0, 0, msd_verb_ping,
	 MSD_GROUP_OBSERVE},
	{"stats", "NAME", "show results and times of a module's calls",
	 "Shows queue, restarts and workers; the 50th, 90th and 99th percentile of the "
	 "time\n"
	 "in each stage (read, queue, worker, run); then the calls by function and "
	 "code.\n"
	 "The figures are those of `modser metrics` (docs/reference/metrics.md). Exit "
	 "code 4: no "
	 "such\n"
	 "module.\n",
	 1, 1, 0, msd_verb_stats, MSD_GROUP_OBSERVE},
	{"top", "[--once] [--header]", "show the activity of the modules every second",
	 "Each module has one line: whether it is ready, its workers and how many of "
	 "them are\n"
	 "open, waiting requests, requests in its workers; then the calls, errors and "
	 "mean run\n"
	 "time of the last second; and memory. --once prints the totals since the "
	 "start and\n"
	 "exits.\n",
	 0, 0, MSD_OPT_TOP | MSD_OPT_TABLE, msd_verb_top, MSD_GROUP_OBSERVE},
	{"monitor", "[-f] [--tail N] [--every N] [NAME]",
	 "show single calls: client, function, result, times",
	 "The daemon keeps the last 4096 calls. NAME selects the calls of one module.\n"
	 "--tail N shows the last N of them. -f shows new calls when they end; "
	 "without\n"
	 "--tail only new ones. --every N shows one call of every N. You need the "
	 "right to\n"
	 "administer.\n",
	 0, 1, MSD_OPT_LOGS | MSD_OPT_MONITOR, msd_verb_monitor, MSD_GROUP_OBSERVE},
	{"slowlog", "[--header]", "list the last slow calls",
	 "Lists the last 128 calls that took at least the daemon's --slow-call (1s), "
	 "with the\n"
	 "shapes of their arguments. You need the right to administer.\n",
	 0, 0, MSD_OPT_TABLE, msd_verb_slowlog, MSD_GROUP_OBSERVE},
	{"logs", "[-f] [--tail N] NAME...",
	 "print the stderr output of a module's workers",
	 "The daemon keeps the last 64 KiB of each module. --tail N prints the last N "
	 "lines.\n"
	 "-f also prints new output, until the module is unloaded.\n",
	 1, MANY, MSD_OPT_LOGS, msd_verb_logs, MSD_GROUP_OBSERVE},
	{"metrics", "", "print the metrics in Prometheus' text format",
	 "Use it where Prometheus cannot scrape over HTTP, for example with "
	 "node_exporter's\n"
	 "textfile collector (docs/reference/metrics.md).\n",
	 0, 0, 0, msd_verb_metrics, MSD_GROUP_OBSERVE},
	{"info", "[SECTION...]", "show the daemon's version, limits and figures",
	 "Shows everything, or the named parts: limits, devices, pid, ...\n", 0,
	 MSD_CLI_INFO_WORDS, 0, msd_verb_info, MSD_GROUP_OBSERVE},
	{"devices", "[--header]", "list the devices that modules can use", "", 0, 0,
	 MSD_OPT_TABLE, msd_verb_devices, MSD_GROUP_OBSERVE},
	{"doctor", "", "measure the daemon's overhead and report unusual conditions",
	 "The floor is a round trip of 64 bytes between two processes of this "
	 "machine; ping\n"
	 "is a round trip to the daemon. For each module with calls it prints run time "
	 "and\n"
	 "overhead. Unusual conditions are swapping, a host that takes processor time, "
	 "heat,\n"
	 "a CPU quota, busy processors, more threads than processors, polling clients, "
	 "a late\n"
	 "event loop, no Landlock, no control group.\n",
	 0, 0, 0, msd_verb_doctor, MSD_GROUP_OBSERVE},
	{"version", "", "print the versions of modser and of the daemon", "", 0, 0, 0,
	 msd_verb_version, MSD_GROUP_OBSERVE},
	{"clients", "[--header] [kill ID]",
	 "list the connections of the daemon, or end one",
	 "Shows user, activity and memory of each connection. Without the right to "
	 "administer\n"
	 "you see only your own connections. kill ends the connection with the number "
	 "ID.\n",
	 0, 2, MSD_OPT_TABLE, msd_verb_clients, MSD_GROUP_ADMINISTER},
	{"acl", "whoami | list | log | dry-run USER METHOD [NAME] | upgrade FILE",
	 "show rights and refused requests",
	 "  whoami   show your user name at the daemon, and your rights\n"
	 "  list     print the lines of the daemon's file of rights\n"
	 "  log      list the last requests that lacked a right\n"
	 "  dry-run  check whether USER may request METHOD (call, module.load; or a "
	 "right:\n"
	 "           lookup, call, load, read, admin) for NAME, a module or NAME:FUNC; "
	 "exit\n"
	 "           code 6: no\n"
	 "  upgrade  rewrite FILE, a file of rights, by today's rules and print the\n"
	 "           additions; - converts standard input to standard output. Needs no "
	 "daemon\n"
	 "See docs/reference/rights.md. list, log and dry-run need the right to "
	 "administer.\n",
	 1, 4, 0, msd_verb_acl, MSD_GROUP_ADMINISTER},
	{"reload", "", "let the daemon read its configuration again",
	 "Prints the differences from the configuration in force: changes that apply "
	 "now, and\n"
	 "changes that need a restart. A wrong configuration changes nothing.\n",
	 0, 0, 0, msd_verb_reload, MSD_GROUP_ADMINISTER},
	{"store", "[-C DIR] ls|verify|prune | pin|unpin|rm NAME",
	 "manage the models in a daemon's store",
	 "  ls      list the editions: module, edition, version, digest, bytes, "
	 "pinned\n"
	 "  verify  read every file that a module needs and check its digest\n"
	 "  prune   remove the files that no module needs (also called gc)\n"
	 "  pin     keep all editions of the module when space is short\n"
	 "  unpin   undo pin\n"
	 "  rm      forget the module, so that prune removes its files; needs -C, "
	 "because a\n"
	 "          running daemon forgets a module with `modser unload`\n"
	 "Without -C the daemon does it, and you need the right to administer. With -C "
	 "modser\n"
	 "opens the folder DIR (modserd --store) itself. No daemon may use it then, "
	 "except\n"
	 "for ls and verify. Exit codes: 4: no such module or folder; 8: damaged.\n",
	 1, 2, MSD_OPT_DIR, msd_verb_store, MSD_GROUP_ADMINISTER},
	{"cache", "ls|prune [BYTES]", "manage the cache of compiled device code",
	 "  ls     list the entries: name, bytes, last use; the last used first\n"
	 "  prune  remove the least recently used until at most BYTES are left\n"
	 "         (512M; default: the limit of the workers, $MODSERD_CACHE_LIMIT, "
	 "2G); 0: all\n"
	 "The daemon uses the same folder if it runs as this user with the same\n"
	 "MODSERD_CACHE. Entries in use are not removed. Needs no daemon.\n",
	 1, 2, MSD_OPT_OFFLINE, msd_verb_cache, MSD_GROUP_ADMINISTER},
	{"tls", "init|server DIR [HOST...] | client DIR NAME",
	 "create certificates of your own for tls://",
	 "  init    create an authority, a server certificate and a client certificate "
	 "in the\n"
	 "          folder DIR: ca.pem, ca.key, server.*, client.*. HOST is the host "
	 "name or\n"
	 "          number in the clients' tls:// address (localhost, 127.0.0.1, ::1)\n"
	 "  server  create another server certificate when the first has expired (move "
	 "it\n"
	 "          away first)\n"
	 "  client  create another client certificate, NAME.pem and NAME.key, signed "
	 "by the\n"
	 "          authority in DIR\n"
	 "No file is overwritten, and only you can read the keys. "
	 "docs/how-to/two-teams.md "
	 "continues\n"
	 "from here. Needs no daemon. Exit code 6: a file exists already.\n",
	 2, MANY, MSD_OPT_OFFLINE, msd_verb_tls, MSD_GROUP_ADMINISTER},
	{"inspect",
	 "[--dot|--dump|--plan|--vm|--check-daemon ADDR] [--abi ABI] [--params FILE] "
	 "[--external-data FILE] [--format FORMAT] [--input INPUT] [--outputs NAMES] "
	 "[--signature NAME] FILE...",
	 "show the content of a library, an archive or a model file", msd_text_inspect,
	 1, MSD_EXTERNAL_DATA_MAX,
	 MSD_OPT_INSPECT | MSD_OPT_WITH | MSD_OPT_ERA | MSD_OPT_PARAMS | MSD_OPT_MODEL,
	 msd_verb_inspect, MSD_GROUP_OFFLINE},
	{"convert",
	 "[--mlf-version 5|7] [--name NAME] [--external-data FILE] [--format FORMAT] "
	 "[--input INPUT] [--outputs NAMES] [--signature NAME] [-l NAME] FILE... -o "
	 "FILE "
	 "[-o FILE]",
	 "convert archives, libraries and model files", msd_text_convert, 1, MANY,
	 MSD_OPT_OUTPUT | MSD_OPT_WITH | MSD_OPT_CONVERT | MSD_OPT_LINK |
		 MSD_OPT_OFFLINE | MSD_OPT_MODEL,
	 msd_verb_convert, MSD_GROUP_OFFLINE},
	{"unpack", "[--split-params FILE [--tvm-names]] FILE -C DIR",
	 "write the modules of a library to files",
	 "Kernels, graphs, parameters and VM programs become files, beside "
	 "manifest.json and a\n"
	 "copy of the library. --split-params moves weights into a file that several "
	 "builds\n"
	 "can share. Needs no daemon.\n",
	 1, 1, MSD_OPT_DIR | MSD_OPT_SPLIT | MSD_OPT_OFFLINE, msd_verb_unpack,
	 MSD_GROUP_OFFLINE},
	{"pack",
	 "[--cc COMMAND] [-l NAME] [--system-lib] [--symbol-prefix NAME] "
	 "[--split-params FILE [--tvm-names]] DIR|MANIFEST [OBJECT...] -o FILE",
	 "build a library from unpacked modules", msd_text_pack, 1, MANY,
	 MSD_OPT_OUTPUT | MSD_OPT_BUILD | MSD_OPT_LINK | MSD_OPT_SPLIT |
		 MSD_OPT_OFFLINE,
	 msd_verb_pack, MSD_GROUP_OFFLINE},
	{"formats", "", "list the model formats that modser can read and write",
	 "Also called serializers. The columns are key, format, name, version, files, "
	 "access\n"
	 "(read, write), and the number of operators; --json names the operators. "
	 "Needs "
	 "no\n"
	 "daemon.\n",
	 0, 0, MSD_OPT_OFFLINE, msd_verb_formats, MSD_GROUP_OFFLINE},
	{"completion", "bash|fish|zsh", "print the completion script of a shell",
	 "Use: source <(modser completion bash), or: modser completion fish | source\n",
	 1, 1, MSD_OPT_OFFLINE, msd_verb_completion, MSD_GROUP_OFFLINE},
	{"help", "[VERB]", "show this list, or the help of a verb", "", 0, 1,
	 MSD_OPT_OFFLINE, msd_verb_help, MSD_GROUP_OFFLINE},
	{0},
};
