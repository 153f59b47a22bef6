/* The verbs of modser in one table: words, options, help and function of each. A help
 * text of more than a few lines is in texts.c. */
#include "client/cli/cli.h"
#include "client/cli/texts.h"

#define MANY 4096 /* words: more than the arguments of any call */

const struct msd_verb msd_verbs[] = {
	{"ping", "", "ask the daemon for an answer, print how long it took", "", 0, 0,
	 0, msd_verb_ping},
	{"ls", "[-l] [--header]", "list the modules with their states",
	 "Also called ps and list. MEM is the memory of the module's processes. Half "
	 "of its\n"
	 "calls ran no longer than P50, and 99 of 100 no longer than P99; both are "
	 "exact to\n"
	 "a factor of two. -l shows all that is known. In a pipe, cells are separated "
	 "by\n"
	 "tabs, sizes are bytes, times are nanoseconds, and --header prints the names "
	 "of the\n"
	 "columns first. On a terminal that is too narrow each cell is a line.\n",
	 0, 0, MSD_OPT_TABLE | MSD_OPT_LONG, msd_verb_ls},
	{"show", "NAME...", "show all about a module: file, state, tree, functions", "",
	 1, MANY, 0, msd_verb_show},
	{"funcs", "[--doc] [--header] NAME...",
	 "list a module's functions with their signatures",
	 "Also called functions. --doc prints the texts that authors wrote for their\n"
	 "functions, where the library has them: functions that C++ code exports by "
	 "the\n"
	 "macros of tvm-ffi.\n",
	 1, MANY, MSD_OPT_TABLE | MSD_OPT_DOC, msd_verb_funcs},
	{"load",
	 "[--replace] [--keep] [--device DEVICE] [--workers N] "
	 "[--batch N [--within TIME]] [--max-run TIME] [--era ERA] "
	 "[--tvm-inputs] "
	 "[--fill FILL] [--format FORMAT] [--input INPUT] "
	 "[--graph FILE] "
	 "[--params FILE] [--with FILE] [-l NAME] NAME FILE",
	 "upload a library, a model or its archive and load it as NAME", msd_text_load,
	 2, 2,
	 MSD_OPT_LOAD | MSD_OPT_WITH | MSD_OPT_LINK | MSD_OPT_RUN | MSD_OPT_DEVICE |
		 MSD_OPT_GRAPH | MSD_OPT_PARAMS | MSD_OPT_ERA | MSD_OPT_MODEL,
	 msd_verb_load},
	{"pull",
	 "[--sha256 HEX] [--device DEVICE] [--workers N] [--batch N [--within TIME]] "
	 "[--max-run TIME] [--era ERA] [--tvm-inputs] "
	 "[--fill FILL] [--format FORMAT] [--input INPUT] NAME URI",
	 "have the daemon fetch a module into its store and serve it as NAME",
	 msd_text_pull, 2, 2,
	 MSD_OPT_PULL | MSD_OPT_RUN | MSD_OPT_DEVICE | MSD_OPT_ERA | MSD_OPT_MODEL,
	 msd_verb_pull},
	{"push",
	 "[--sign KEY] [--auth FILE] [--realm HOST] [--manifest FILE] [--graph FILE] "
	 "[--params FILE] "
	 "FILE URI",
	 "put a module into a registry, with its manifest", msd_text_push, 2, 2,
	 MSD_OPT_PUSH | MSD_OPT_GRAPH | MSD_OPT_PARAMS | MSD_OPT_OFFLINE,
	 msd_verb_push},
	{"rollback", "NAME...", "serve the edition before the one that is served",
	 "For modules that the daemon's store keeps (`modser load --keep`, `modser "
	 "pull`).\n"
	 "The present edition serves until the previous one is ready. Then the two "
	 "have\n"
	 "changed places, so that another rollback undoes it. Exit code 4: there is "
	 "no\n"
	 "previous edition; 6: it is damaged, or cannot be loaded.\n",
	 1, MANY, 0, msd_verb_rollback},
	{"unload", "NAME...", "unload a module; done when its process is gone",
	 "Also called rm.\n", 1, MANY, 0, msd_verb_unload},
	{"wait", "NAME...", "wait until a module is ready or has failed", "", 1, MANY,
	 0, msd_verb_wait},
	{"logs", "[-f] [--tail N] NAME...",
	 "print the last that a module's worker wrote to stderr",
	 "The daemon keeps the last 64 KiB of each module. --tail N prints only the "
	 "last N\n"
	 "lines of them. -f keeps printing what comes, until the module is unloaded.\n",
	 1, MANY, MSD_OPT_LOGS, msd_verb_logs},
	{"inspect",
	 "[--dot|--dump|--vm|--will-run-on ADDR] [--era ERA] [--params FILE] "
	 "[--with FILE] [--format FORMAT] [--input INPUT] FILE",
	 "show what a library, an archive or a model file holds, without running it",
	 msd_text_inspect, 1, 1,
	 MSD_OPT_INSPECT | MSD_OPT_WITH | MSD_OPT_ERA | MSD_OPT_PARAMS | MSD_OPT_MODEL,
	 msd_verb_inspect},
	{"convert",
	 "[--mlf-version 5|7] [--name NAME] [--with FILE] [-l NAME] FILE... -o FILE "
	 "[-o FILE]",
	 "make a library of an archive, an archive of parts, a model of a model",
	 msd_text_convert, 1, MANY,
	 MSD_OPT_OUTPUT | MSD_OPT_WITH | MSD_OPT_CONVERT | MSD_OPT_LINK |
		 MSD_OPT_OFFLINE,
	 msd_verb_convert},
	{"unpack", "[--split-params FILE [--tvm-names]] FILE -d DIR",
	 "take a library's modules apart into files",
	 "Kernels, graphs, parameters and VM programs become files of their own, with "
	 "a\n"
	 "manifest.json and a copy of the library. --split-params moves weights out of "
	 "them,\n"
	 "into a file that several builds share. Needs no daemon.\n",
	 1, 1, MSD_OPT_DIR | MSD_OPT_SPLIT | MSD_OPT_OFFLINE, msd_verb_unpack},
	{"pack",
	 "[--cc COMMAND] [-l NAME] [--system-lib] [--symbol-prefix NAME] "
	 "[--split-params FILE [--tvm-names]] DIR|MANIFEST [OBJECT...] -o FILE",
	 "put a library's modules together from files", msd_text_pack, 1, MANY,
	 MSD_OPT_OUTPUT | MSD_OPT_BUILD | MSD_OPT_LINK | MSD_OPT_SPLIT |
		 MSD_OPT_OFFLINE,
	 msd_verb_pack},
	{"serializers", "", "list the formats of models that can be read and written",
	 "The columns are key, format, name, version, files, what it can do (read, "
	 "write), and\n"
	 "with how many operators; --json names them. Needs no daemon.\n",
	 0, 0, MSD_OPT_OFFLINE, msd_verb_serializers},
	{"store", "[-d DIR] ls|verify|gc | pin|unpin|rm NAME",
	 "look after the models that a daemon keeps",
	 "  ls      one line for each edition: module, edition, version, digest, "
	 "bytes, pinned\n"
	 "  verify  read every file that a module needs, and check its digest\n"
	 "  gc      remove the files that no module needs any more\n"
	 "  pin     never give up any edition of the module to make room\n"
	 "  unpin   allow that again\n"
	 "  rm      forget the module, so that gc removes its files; only with -d, for "
	 "a\n"
	 "          running daemon forgets by `modser unload`\n"
	 "Without -d the daemon does it, and you need the right to administer. With -d "
	 "the\n"
	 "folder DIR (modserd --store) is opened here. No daemon may be running on it "
	 "then,\n"
	 "except for ls and verify. Exit codes: 4: no such module or folder; 6: "
	 "damaged.\n",
	 1, 2, MSD_OPT_DIR, msd_verb_store},
	{"cache", "ls|prune [BYTES]",
	 "look after what workers kept of built device code",
	 "  ls     a line an entry: name, bytes, last use; the last used first\n"
	 "  prune  remove the least recently used until at most BYTES are left\n"
	 "         (512M; else the limit that workers keep to, $MODSERD_CACHE_LIMIT,\n"
	 "         2G); 0: all\n"
	 "The folder is the daemon's when it runs as this user with the same "
	 "MODSERD_CACHE;\n"
	 "what is in use is not disturbed. Needs no daemon.\n",
	 1, 2, MSD_OPT_OFFLINE, msd_verb_cache},
	{"tls", "init|server DIR [HOST...] | client DIR NAME",
	 "make certificates of one's own for tls://",
	 "  init    an authority, a server's and a client's certificate: ca.pem, "
	 "ca.key,\n"
	 "          server.*, client.* in the folder DIR. HOST is what clients write "
	 "behind\n"
	 "          tls://, a name or a number (localhost, 127.0.0.1, ::1)\n"
	 "  server  one more server's, when the first has run out (move it away)\n"
	 "  client  one more client's, NAME.pem and NAME.key, signed by the authority "
	 "in "
	 "DIR\n"
	 "No file is written over; keys are for this user alone. "
	 "docs/how-to/two-teams.md "
	 "goes "
	 "on from\n"
	 "here. Needs no daemon. Exit code 6: a file is there already.\n",
	 2, MANY, MSD_OPT_OFFLINE, msd_verb_tls},
	{"info", "[SECTION...]", "show the daemon's version, limits and figures",
	 "All of it, or what has these names: limits, devices, pid, ...\n", 0,
	 MSD_CLI_INFO_WORDS, 0, msd_verb_info},
	{"metrics", "", "print the figures for Prometheus",
	 "In its text format, of the daemon and its modules: for a scrape without "
	 "HTTP, as\n"
	 "by node_exporter's textfile collector (docs/reference/metrics.md).\n",
	 0, 0, 0, msd_verb_metrics},
	{"stats", "NAME", "show how a module's calls ended and where their time went",
	 "Its queue, restarts and workers; of each stage (read, queue, worker, run) "
	 "the "
	 "time\nthat 50, 90 and 99 of 100 calls stayed below; then calls by function "
	 "and "
	 "code. Of\nthe figures of `modser metrics` (docs/reference/metrics.md). Exit "
	 "code 4: no "
	 "such module.\n",
	 1, 1, 0, msd_verb_stats},
	{"doctor", "", "measure what the daemon adds here, and say what is unusual",
	 "The floor is a round trip of 64 bytes between two processes of this machine, "
	 "ping one\nto the daemon; of each module that was called: how long a call "
	 "ran, "
	 "and what was added.\nUnusual are swapping, a host that gives its processors "
	 "to "
	 "others, heat, a quota, busy\nprocessors, more threads than processors, "
	 "clients "
	 "that spin, a loop that is late, no\nLandlock, no control group.\n",
	 0, 0, 0, msd_verb_doctor},
	{"top", "[--once] [--header]", "show what the modules do, every second",
	 "One line for each module: whether it is ready, its workers and how many of "
	 "them are\n"
	 "open, how many requests wait and how many the workers have; then what "
	 "happened in\n"
	 "the last second: calls, errors, and how long a call ran on average; and "
	 "memory.\n"
	 "--once prints what was counted since the start, and ends.\n",
	 0, 0, MSD_OPT_TOP | MSD_OPT_TABLE, msd_verb_top},
	{"monitor", "[-f] [--tail N] [--every N] [NAME]",
	 "show single calls: who called what, how it ended, where its time went",
	 "The daemon keeps the last 4096 calls; with NAME those of that module are "
	 "shown.\n"
	 "--tail N shows the last N of them. -f keeps showing calls as they end; "
	 "without\n"
	 "--tail it begins now. --every N shows one call of every N. You need the "
	 "right to\n"
	 "administer.\n",
	 0, 1, MSD_OPT_LOGS | MSD_OPT_MONITOR, msd_verb_monitor},
	{"slowlog", "[--header]", "list the last calls that were slow",
	 "The last 128 calls that took as long as the daemon's --slow-call (1s) or "
	 "longer,\n"
	 "with the shapes of their arguments. You need the right to administer.\n",
	 0, 0, MSD_OPT_TABLE, msd_verb_slowlog},
	{"clients", "[--header] [kill ID]",
	 "list the daemon's connections: who, what they do and hold; end one",
	 "Without the right to administer you see your own connections alone. kill "
	 "ends the\n"
	 "connection that has the number ID.\n",
	 0, 2, MSD_OPT_TABLE, msd_verb_clients},
	{"acl", "whoami | list | log | dry-run USER METHOD [NAME] | upgrade FILE",
	 "show whose rights are which, and who was refused",
	 "  whoami   who this client is to the daemon, and what it may do\n"
	 "  list     the lines of the daemon's file of rights\n"
	 "  log      the last requests that were refused for want of a right\n"
	 "  dry-run  would USER be allowed to ask for METHOD (call, module.load; or a "
	 "right:\n"
	 "           lookup, call, load, read, admin) with NAME, a module or "
	 "NAME:FUNC; exit "
	 "code 6:\n"
	 "           no\n"
	 "  upgrade  rewrite FILE, a file of rights, by the rules of today, and tell "
	 "what was\n"
	 "           added; - is from standard input to standard output. Asks no "
	 "daemon\n"
	 "See docs/reference/rights.md. list, log and dry-run need the right to "
	 "administer.\n",
	 1, 4, 0, msd_verb_acl},
	{"reload", "", "have the daemon read its configuration again",
	 "Prints what differs from the configuration in force: what has changed now, "
	 "and what\n"
	 "waits until the daemon is started again. A configuration that is wrong "
	 "changes\n"
	 "nothing.\n",
	 0, 0, 0, msd_verb_reload},
	{"devices", "[--header]", "list the devices that modules can run on", "", 0, 0,
	 MSD_OPT_TABLE, msd_verb_devices},
	{"call",
	 "[--device DEVICE] [--kill-on-exit] [--background] [--trace] [--retry TIME "
	 "[--idempotent]] "
	 "FUNCTION [ARGUMENT...] [-o FILE]...",
	 "call a function", msd_text_call, 1, MANY,
	 MSD_OPT_OUTPUT | MSD_OPT_DEVICE | MSD_OPT_CALL | MSD_OPT_TRACE | MSD_OPT_RETRY,
	 msd_verb_call},
	{"bench",
	 "[-c N] [-d N | --rate N] [--time TIME] [--device DEVICE] FUNCTION "
	 "[ARGUMENT...]",
	 "measure how fast a function is from here", msd_text_bench, 1, MANY,
	 MSD_OPT_BENCH | MSD_OPT_DEVICE, msd_verb_bench},
	{"instance",
	 "[--kill-on-exit] NAME FUNC [ARGUMENT...] [then FUNC [ARGUMENT...]]... [-o "
	 "FILE]...",
	 "call functions of an executor that keeps its inputs and outputs",
	 msd_text_instance, 2, MANY, MSD_OPT_OUTPUT | MSD_OPT_CALL, msd_verb_instance},
	{"completion", "bash|fish|zsh", "print the completion script of a shell",
	 "Use: source <(modser completion bash), or: modser completion fish | source\n",
	 1, 1, MSD_OPT_OFFLINE, msd_verb_completion},
	{"version", "", "print the versions of modser and of the daemon", "", 0, 0, 0,
	 msd_verb_version},
	{"help", "[VERB]", "show this, or all about a verb", "", 0, 1, MSD_OPT_OFFLINE,
	 msd_verb_help},
	{0},
};
