/* Says which foreign code runs: to the crash report and to the supervisor. */
#include "daemon/confine/crash.h"
#include "daemon/rpc_page.h"
#include "daemon/rpc_session/state.h"

void msd_rpc_session_note(struct msd_rpc_session *s, const char *what, const char *name)
{
	msd_crash_note(what, name);
	msd_rpc_page_note(s->channel.page, what, name);
}
