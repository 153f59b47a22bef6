#include <criterion/criterion.h>

#include "daemon/worker/handlers.h"

Test(handlers, what_is_forwarded_to_a_worker_is_answered_there)
{
	for (enum msd_method m = 0; m < MSD_M_COUNT; m++) {
		if (msd_method_is_forwarded(m)) {
			cr_expect_not_null(msd_handlers[m], "%s",
					   msd_method_row(m)->name);
		}
	}
}
