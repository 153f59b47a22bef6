#ifndef MSD_SUPERVISOR_MODULE_H
#define MSD_SUPERVISOR_MODULE_H
/*
 * A module by name: its source (kept for restarts), its queue, and
 * its workers, as many as it was loaded with. READY means that all of them have opened
 * the artifact once and at least one has it open now.
 * Its states are life_table.h's.
 *
 * A replacement is a second msd_module, hidden in `successor` until it is READY; then
 * it takes the name and the old one drains.
 */
#include "daemon/supervisor/module/blame.h"
#include "daemon/supervisor/module/crew.h"
#include "daemon/supervisor/module/idleness.h"
#include "daemon/supervisor/module/life_table.h"
#include "daemon/supervisor/module/probation.h"
#include "daemon/supervisor/module/setback.h"
#include "daemon/supervisor/request/followers.h"

#define MSD_LOG_BYTES (64u * 1024u) /* kept of a module's output */

struct msd_source_job;
struct msd_trial;

struct msd_module {
	struct msd_list link; /* msd_house.modules */
	struct msd_crew crew;
	struct msd_life life;
	struct msd_bars bars;
	struct msd_source_job *bringing; /* its source, on the way; NULL: it is there */
	struct msd_deadline bring_timer; /* how long that may last */
	uint64_t serial;                 /* no other has it */
	const char *owner; /* who brought it, compared by its place; NULL: nobody */
	bool is_candidate; /* how its first load ends is told to the store */
	bool is_written;   /* of a candidate: the store has it already */
	uint64_t section;  /* of the configuration, that it was loaded by; 0: none */
	/* It has taken another's place, which is gone back to when it does not hold. */
	struct msd_probation probation;
	struct msd_deadline probation_end;
	struct msd_setback setback;     /* of what was to replace it, or had */
	struct msd_idleness idleness;   /* sleep.c's */
	struct msd_deadline idle_timer; /* when that is looked at */
	bool is_asking;                 /* slumber.c's: the house is asked */
	struct msd_trial *trial; /* its self-tests, until they are done; NULL: none */
	bool is_awaiting;        /* nobody has its source yet */
	struct msd_list
		receiving; /* msd_req.link: their payload has a slot, is not whole */
	bool is_over;      /* msd_module_end() */
	bool is_replaced;  /* another has its name; it drains */
	struct msd_followers waiters; /* load and wait requests */
	struct msd_followers unloaders;
	struct msd_followers followers; /* they wait for more of the log */
	struct msd_module *successor;   /* loads under the same name */
	struct msd_module *predecessor; /* the one whose successor this is */
	char *error;                    /* why FAILED or QUARANTINED */
	msd_err error_code;
	struct msd_deadline drain; /* how long DRAINING may last */
	char *log; /* ring of MSD_LOG_BYTES; NULL until something came */
	size_t log_at, log_n;
	uint64_t log_total; /* bytes that ever went in */
};

/** The module of a crew. */
static inline struct msd_module *msd_module_of(struct msd_crew *crew)
{
	return MSD_CONTAINER_OF(crew, struct msd_module, crew);
}
/** Nobody waits for it yet: of a new one. */
void msd_module_open(struct msd_module *m);
/** Answer @r when the module is READY or has FAILED. Takes @r. */
void msd_module_wait(struct msd_module *m, struct msd_req *r);
/** Why it takes no calls any more, of one that is DRAINING. */
const char *msd_module_why_draining(const struct msd_module *m);
/** Requests that are queued or sent. */
uint32_t msd_module_in_flight(const struct msd_module *m);
/** Answer what waits for the module, in turns: each as its state says then. */
void msd_module_answer_waiters(struct msd_module *m);
/** Answer and free every request of a list; MSD_OK answers nil. */
void msd_module_answer_all(struct msd_list *requests, msd_err err, const char *text);
/** Its name is free, and nobody finds it any more: it has no process. When what is
 * being refused of its queue has been, and who follows it was told, who waits for its
 * end is told, and it is freed; now, if there is nothing. */
void msd_module_end(struct msd_module *m);
/** Nothing of its queue is being refused any more, or nobody is being told something.
 */
void msd_module_refused(struct msd_module *m);
/** Free it, at once: it has no process. */
void msd_module_free(struct msd_module *m);

#endif
