#include <stdio.h>
#include <string.h>

#include "client/cli/completion.h"
#include "client/cli/verbs/report.h"

enum msd_exit msd_verb_completion(const struct msd_cli *cli)
{
	const char *shell = cli->words[0];

	for (const struct msd_completion *c = msd_completions; c->shell != NULL; c++) {
		if (strcmp(c->shell, shell) == 0) {
			(void)fputs(c->script, stdout);
			return MSD_EXIT_OK;
		}
	}
	return msd_report_usage("expected bash, fish or zsh",
				"no completion for \"%s\"", shell);
}
