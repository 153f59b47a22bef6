/*
 * Happy path: the daemon is asked which process the module has until that is another
 * one, or none; while there is none it says why. Failures: it does not answer, or has
 * no such module any more, and there is nothing to wait for.
 */
#include "client/lost_worker.h"

#include <time.h>

#include "client/result.h"

#define ASK_MS 1000u
#define LOOKS 10u /* a millisecond, then twice as long each time */

/* False: it has not @pid any more. */
static bool has_process(modser_client *c, const char *module, uint64_t pid,
			modser_result *lost)
{
	const modser_value name = modser_str(module);
	const modser_options options = {.deadline_ms = ASK_MS};
	modser_result *r = NULL;
	bool has = false;

	if (modser_request(c, "module.describe", &name, 1, &options, &r) == MODSER_OK) {
		const modser_value *map = modser_result_value(r);
		const modser_value *now = modser_find(map, "pid");
		const modser_value *why = modser_find(map, "error");

		has = now != NULL && now->kind == MODSER_INT &&
		      (uint64_t)now->as.i == pid;
		if (!has && why != NULL && why->kind == MODSER_STR && lost != NULL &&
		    lost->error.code == MODSER_WORKER_LOST)
			msd_result_fail(lost, MSD_WORKER_LOST, why->as.str.p);
	}
	modser_result_free(r);
	return has;
}

void msd_lost_worker_await(modser_client *c, const char *module, uint64_t pid,
			   modser_result *lost)
{
	struct timespec rest = {.tv_nsec = 1000000};

	for (unsigned i = 0; i < LOOKS && has_process(c, module, pid, lost); i++) {
		(void)nanosleep(&rest, NULL);
		if (rest.tv_nsec < 500000000)
			rest.tv_nsec *= 2;
	}
}
