#ifndef MSD_CLI_PLAN_H
#define MSD_CLI_PLAN_H
/* The plan of a framework's model, which a worker tells page by page (module.plan). */
#include "client/cli/cli.h"
#include "client/modser.h"
#include "proto/base/bytes.h"

struct msd_plan_source {
	modser_client *client; /* the daemon, or a worker */
	const char *name;      /* of the module */
	uint32_t deadline_ms;  /* of each page; 0: none */
};

/**
 * Call @each with every page. *@ret_last is the last answer, which the caller frees; it
 * has the error. NULL: memory is short.
 */
modser_err msd_plan_each(const struct msd_plan_source *from,
			 void (*each)(void *ctx, const modser_value *page), void *ctx,
			 modser_result **ret_last);
/**
 * Append the plan: a section of a map for people and scripts, or an object. If the
 * workers are busy, or the daemon is older, that says so. Reports other errors.
 */
enum msd_exit msd_plan_print(const struct msd_plan_source *from, bool as_json,
			     struct msd_buf *out);

#endif
