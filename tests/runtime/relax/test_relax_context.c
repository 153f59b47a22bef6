#include <criterion/criterion.h>
#include <string.h>

#include "runtime/executor/relax/context.h"

static void expect_argument(const char *text, const char *function, const char *want)
{
	struct msd_buf out = {0};

	cr_expect_eq(msd_relax_context_argument(text, function, &out), want != NULL,
		     "%s", text);
	msd_buf_put_u8(&out, '\0');
	cr_expect_str_eq((const char *)out.p, want != NULL ? want : "");
	msd_buf_finish(&out);
}

#define CONTEXT                                                                        \
	"TypeError: ErrorContext(fn=main, loc=param[12], param=t, annotation="         \
	"T.Tuple(R.Tensor((n,), dtype=\"float32\"), R.Shape([n]))) expect_argument a " \
	"Tuple"

Test(relax_context, a_parameters_check_is_said_of_the_argument)
{
	expect_argument(CONTEXT, "main",
			"argument 12 (t: T.Tuple(R.Tensor((n,), dtype=\"float32\"), "
			"R.Shape([n]))): expect_argument a Tuple");
	expect_argument(CONTEXT, "mai", NULL);
	expect_argument(CONTEXT, "loop", NULL);
}

Test(relax_context, other_texts_are_left)
{
	expect_argument("", "main", NULL);
	expect_argument("ValueError: no", "main", NULL);
	expect_argument("ErrorContext(match_cast, annotation=R.Tensor(ndim=2)) x",
			"main", NULL);
	expect_argument("ErrorContext(fn=main, loc=return, annotation=R.Tensor()) x",
			"main", NULL);
	expect_argument("ErrorContext(fn=main, loc=param) ", "main", NULL);
}

Test(relax_context, texts_that_are_cut_off_are_left)
{
	char text[sizeof(CONTEXT)];

	for (size_t n = 0; n < strlen(CONTEXT) - strlen(" expect_argument a Tuple");
	     n++) {
		memcpy(text, CONTEXT, n);
		text[n] = '\0';
		expect_argument(text, "main", NULL);
	}
}
