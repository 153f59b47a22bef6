/* Passes as far as Criterion can see, and leaks: proves that leaks.sh fails such a
 * test. */
#include <criterion/criterion.h>
#include <stdlib.h>

Test(planted, leaks_and_passes)
{
	void *volatile lost = malloc(77);
	cr_assert(lost != NULL);
	lost = NULL;
}
