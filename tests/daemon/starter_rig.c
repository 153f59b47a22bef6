#include "tests/daemon/starter_rig.h"

#include <criterion/criterion.h>

struct msd_starter starter;
uv_loop_t loop;

void open_starter(void)
{
	cr_assert_eq(uv_loop_init(&loop), 0);
	msd_starter_open(&starter, &loop);
}

void close_starter(void)
{
	msd_starter_close(&starter);
	(void)uv_run(&loop, UV_RUN_DEFAULT);
	cr_expect_eq(uv_loop_close(&loop), 0, "no handle is left");
}

void on_begun(void *user, pid_t pid, int error)
{
	*(struct told *)user = (struct told){((struct told *)user)->n + 1, pid, error};
	uv_stop(&loop); /* it would sleep on after a timer's word */
}

/* Its handles do not keep the loop: this does. */
static void keep(uv_timer_t *timer)
{
	(void)timer;
}

void wait_for(const struct told *told)
{
	uv_timer_t ever;

	(void)uv_timer_init(&loop, &ever);
	(void)uv_timer_start(&ever, keep, 1000000, 0);
	while (told->n == 0)
		(void)uv_run(&loop, UV_RUN_ONCE);
	uv_close((uv_handle_t *)&ever, NULL);
	(void)uv_run(&loop, UV_RUN_NOWAIT);
	cr_expect_eq(told->n, 1);
}
