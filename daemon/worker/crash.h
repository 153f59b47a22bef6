#ifndef MSD_WORKER_CRASH_H
#define MSD_WORKER_CRASH_H
/*
 * Last words: when compiled code crashes the worker, one line on standard error says
 * with which signal, where, and in what. The supervisor quotes it to the callers.
 */

/** Handle SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGABRT on a stack of their own; the
 * signal then takes its default action. */
void msd_crash_install(void);
/** What is being done ("call of", "boom"); both must stay valid until the next note.
 * NULL: nothing foreign. */
void msd_crash_note(const char *what, const char *name);
/** Back to the default actions (a forked child whose death is expected). */
void msd_crash_uninstall(void);

#endif
