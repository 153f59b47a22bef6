#ifndef MSD_CHILD_IPC_H
#define MSD_CHILD_IPC_H
/*
 * Shared memory, semaphores and queues of System V, and queues of POSIX, belong to no
 * process: they stay when who made them is gone, and the kernel does not tell of all of
 * them who that was. So a child gets a namespace of its own for them, which ends with
 * the last process in it, with all that it holds. Names in /dev/shm are files and stay.
 *
 * Only a daemon with CAP_SYS_ADMIN may make one; any other one's children share its
 * own.
 */

/** What is started until msd_ipc_leave() is in a namespace of its own. Returns what
 * that function wants. On the thread that starts it, which does no such sharing itself.
 */
int msd_ipc_enter(void);
/** Go back to the daemon's own. */
void msd_ipc_leave(int own);

#endif
