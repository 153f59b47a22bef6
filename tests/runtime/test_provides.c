/* What the artifact library says of this build, against the runtime's tables. */
#include <criterion/criterion.h>
#include <dlfcn.h>

#include "runtime/abi/slots.h"
#include "artifact/provides/provides.h"
#include "runtime/global/args.h"
#include "runtime/kind/kinds.h"

static struct msd_span span_of(const char *text)
{
	return (struct msd_span){(const uint8_t *)text, strlen(text)};
}

Test(provides, packed_functions_are_those_of_the_tables)
{
	static const struct msd_global *const tables[] = {
		msd_globals_device, msd_globals_cuda,   msd_globals_check,
		msd_globals_shape,  msd_globals_memory, msd_globals_tensor,
		msd_globals_tuple,  msd_globals_call,   msd_globals_sort,
		msd_globals_set,    msd_globals_random, msd_globals_blas,
		msd_globals_print,
	};
	size_t n;
	const char *const *names = msd_provides(MSD_PROVIDED_PACKED, &n);

	cr_assert_gt(n, 30);
	for (size_t i = 0; i < n; i++)
		cr_expect_not_null(msd_global_find(names[i]), "%s", names[i]);
	for (size_t t = 0; t < sizeof(tables) / sizeof(*tables); t++)
		for (const struct msd_global *g = tables[t]; g->name != NULL; g++)
			cr_expect(msd_provides_name(MSD_PROVIDED_PACKED, g->name), "%s",
				  g->name);
	cr_expect(!msd_provides_name(MSD_PROVIDED_PACKED, "vm.builtin.nothing"));
}

Test(provides, kinds_are_those_with_a_row)
{
	size_t n;
	const char *const *names = msd_provides(MSD_PROVIDED_KINDS, &n);

	cr_assert_gt(n, 8);
	for (size_t i = 0; i < n; i++)
		cr_expect_neq(msd_node_ops_find(span_of(names[i])), &msd_kind_refused,
			      "%s", names[i]);
	cr_expect(msd_provides_name(MSD_PROVIDED_KINDS, "_lib"));
	cr_expect(!msd_provides_name(MSD_PROVIDED_KINDS, "vulkan"));
}

Test(provides, symbols_and_slots_are_there)
{
	size_t n;
	const char *const *names = msd_provides(MSD_PROVIDED_SYMBOLS, &n);

	cr_assert_gt(n, 15);
	for (size_t i = 0; i < n; i++)
		cr_expect_not_null(dlsym(RTLD_DEFAULT, names[i]), "%s", names[i]);
	names = msd_provides(MSD_PROVIDED_SLOTS, &n);
	cr_assert_gt(n, 10);
	for (size_t i = 0; i < n; i++)
		cr_expect_not_null(msd_slot_value(names[i]), "%s", names[i]);
}
