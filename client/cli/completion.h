#ifndef MSD_CLI_COMPLETION_H
#define MSD_CLI_COMPLETION_H
/* The scripts of client/completion/, made into C by the build. */

struct msd_completion {
	const char *shell;
	const char *script;
};

/** Ended by a row without a shell. */
extern const struct msd_completion msd_completions[];

#endif
