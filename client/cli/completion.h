#ifndef MSD_CLI_COMPLETION_H
#define MSD_CLI_COMPLETION_H
/* The scripts of client/completion/, converted to C by the build. */

struct msd_completion {
	const char *shell;
	const char *script;
};

/** The last row has no shell. */
extern const struct msd_completion msd_completions[];

#endif
