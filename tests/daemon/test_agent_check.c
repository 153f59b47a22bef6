#include <criterion/criterion.h>

#include "daemon/supervisor/edge/listen/agent_check.h"

static const char *line(bool is_leaving, bool is_ready, uint32_t n_workers,
			uint32_t n_waiting)
{
	static char text[MSD_AGENT_LINE_MAX];

	msd_agent_line(is_leaving, is_ready, n_workers, n_waiting, text);
	return text;
}

Test(agent_check, the_weight_falls_with_what_waits)
{
	cr_expect_str_eq(line(false, true, 0, 0), "up ready 100%\n");
	cr_expect_str_eq(line(false, true, 2, 0), "up ready 100%\n");
	cr_expect_str_eq(line(false, true, 2, 2), "up ready 50%\n");
	cr_expect_str_eq(line(false, true, 1, 3), "up ready 25%\n");
}

/* Of 0 haproxy makes a drain. */
Test(agent_check, the_weight_never_falls_to_nothing)
{
	cr_expect_str_eq(line(false, true, 1, UINT32_MAX), "up ready 1%\n");
	cr_expect_str_eq(line(false, true, 0, 1), "up ready 1%\n");
}

Test(agent_check, who_is_not_ready_is_down)
{
	cr_expect_str_eq(line(false, false, 2, 0), "down\n");
}

/* Its modules may be gone by then. */
Test(agent_check, who_leaves_drains_whatever_else_there_is)
{
	cr_expect_str_eq(line(true, true, 2, 0), "drain\n");
	cr_expect_str_eq(line(true, false, 0, 9), "drain\n");
}
