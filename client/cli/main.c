/* main(): parse, run the verb, flush, exit with the verb's code. Also finds a verb by
 * name. The table of verbs is in verbs.c. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "client/cli/help.h"
#include "client/cli/measure/progress.h"
#include "client/cli/model/plugins.h"
#include "client/cli/values/args.h"
#include "client/cli/verbs/report.h"
#include "proto/base/inherited.h"

/* Names in other programs, and former names. */
static const struct {
	const char *other, *verb;
} habits[] = {{"ps", "ls"},
	      {"list", "ls"},
	      {"rm", "unload"},
	      {"functions", "funcs"},
	      {"serializers", "formats"},
	      {"instance", "session"}};

const struct msd_verb *msd_verb_find(const char *word)
{
	const struct msd_verb *v = msd_verbs;

	for (size_t i = 0; i < sizeof(habits) / sizeof(habits[0]); i++) {
		if (strcmp(habits[i].other, word) == 0)
			word = habits[i].verb;
	}
	while (v->name != NULL && strcmp(v->name, word) != 0)
		v++;
	return v->name != NULL ? v : NULL;
}

enum msd_exit msd_verb_help(const struct msd_cli *cli)
{
	if (cli->n_words == 0) {
		msd_help_print(NULL);
		return MSD_EXIT_OK;
	}
	const struct msd_verb *v = msd_verb_find(cli->words[0]);
	if (v == NULL)
		return msd_report_verb(cli->words[0]);
	msd_help_print(v);
	return MSD_EXIT_OK;
}

static void on_interrupt(int number)
{
	(void)number;
	msd_progress_interrupted();
	_exit(MSD_EXIT_INTERRUPTED);
}

int main(int argc, char **argv)
{
	struct sigaction interrupt = {.sa_handler = on_interrupt};
	struct msd_cli cli;
	enum msd_exit code;

	if (!msd_inherited_open_standard())
		return MSD_EXIT_USAGE;
	(void)signal(SIGCHLD,
		     SIG_DFL); /* with SIG_IGN a compiler's status would be lost */
	(void)sigaction(SIGINT, &interrupt, NULL);
	(void)sigaction(SIGTERM, &interrupt, NULL);
	(void)signal(SIGPIPE, SIG_IGN); /* a closed socket is a write error */
	code = msd_args_parse(argc, argv, &cli);
	if (code == MSD_EXIT_OK) {
		if (cli.wants_version) {
			(void)printf("modser %s\n", modser_version());
		} else if (cli.wants_help) {
			msd_help_print(cli.verb);
		} else {
			code = msd_plugins_open(&cli);
			if (code == MSD_EXIT_OK)
				code = cli.verb->run(&cli);
		}
		code = code == MSD_EXIT_OK ? msd_report_stdout(code) : code;
	}
	msd_args_finish(&cli);
	return (int)code;
}
