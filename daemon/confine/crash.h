#ifndef MSD_CONFINE_CRASH_H
#define MSD_CONFINE_CRASH_H
/*
 * Crash report: when compiled code crashes the process, one line on standard error
 * gives the signal, the address and the running function. The supervisor quotes it to
 * its clients.
 */

/**
 * Handle SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGABRT on a separate stack; the signal
 * then takes its default action. The line begins with @name, static text.
 */
void msd_crash_install(const char *name);
/**
 * Set the current action ("call of", "boom"); both must stay valid until the next
 * note. NULL: no foreign code runs.
 */
void msd_crash_note(const char *what, const char *name);
/** Restore the default actions (for a forked child that may crash). */
void msd_crash_uninstall(void);

#endif
