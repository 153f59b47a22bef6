#ifndef MSD_CLI_TARGET_H
#define MSD_CLI_TARGET_H
/* The function of `call` and `bench`: NAME:FUNC, or NAME for the model of a module. */
#include "client/cli/cli.h"
#include "client/modser.h"
#include "proto/base/bytes.h"

/** If @word is neither NAME nor NAME:FUNC, report it for the verb @verb. */
enum msd_exit msd_target_check(const char *verb, const char *word);
/**
 * Write "NAME:FUNC" with its NUL to @ret; the caller ends it with msd_buf_finish().
 * For a NAME, ask the daemon which function is the model. Reports failures; after an
 * error of the daemon *@answer holds it, and the caller frees it.
 */
enum msd_exit msd_target_find(modser_client *client, const char *word,
			      uint32_t deadline_ms, struct msd_buf *ret,
			      modser_result **answer);
/** On a terminal, print the command that calls the module @name; @loaded is the answer
 * to its load. */
void msd_target_print_next(const struct msd_cli *cli, const char *name,
			   const modser_value *loaded);

#endif
