#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "proto/base/half.h"
#include "proto/limits.h"
#include "runtime/abi/anylist.h"
#include "runtime/abi/classic.h"
#include "runtime/abi/ffi.h"
#include "runtime/abi/slots.h"
#include "runtime/abi/syslib.h"
#include "runtime/abi/workspace.h"
#include "runtime/value/error.h"
#include "tests/support/fail_alloc.h"

static void expect_error(msd_err code, const char *text)
{
	struct msd_diag d = {0};

	cr_expect_eq(msd_abi_fetch_error(&d), code);
	cr_expect_str_eq(msd_diag_text(&d), text);
	msd_diag_finish(&d);
}

Test(error, keeps_kind_and_message)
{
	cr_assert_eq(msd_abi_raise("ValueError", "n is %d", 3), -1);
	expect_error(MSD_CALL_FAILED, "ValueError: n is 3");
}

Test(error, later_error_replaces_the_first)
{
	(void)msd_abi_raise("A", "one");
	(void)msd_abi_raise_code(MSD_BAD_ARGUMENT, "two");
	expect_error(MSD_BAD_ARGUMENT, "two");
}

Test(error, taken_once)
{
	(void)msd_abi_raise("A", "one");
	expect_error(MSD_CALL_FAILED, "A: one");
	expect_error(MSD_CALL_FAILED, "failed without an error text");
}

Test(error, parts_are_joined_and_missing_ones_skipped)
{
	const char *parts[] = {"a", NULL, "b", "c"};

	msd_ffi_raise_parts("TypeError", parts, 4);
	expect_error(MSD_CALL_FAILED, "TypeError: abc");
}

Test(error, overlong_message_is_cut)
{
	const size_t n = MSD_DIAG_MAX * 2;
	char *text = malloc(n);
	struct msd_diag d = {0};

	memset(text, 'x', n);
	(void)msd_abi_raise_bytes("K", (struct msd_span){(uint8_t *)text, n});
	(void)msd_abi_fetch_error(&d);
	cr_assert_eq(d.len, MSD_DIAG_MAX);
	msd_diag_finish(&d);
	free(text);
}

Test(error, moves_between_threads)
{
	(void)msd_abi_raise("A", "one");
	struct msd_error *e = msd_abi_detach();
	cr_assert_null(msd_abi_detach());
	msd_abi_attach(e);
	expect_error(MSD_CALL_FAILED, "A: one");
}

Test(workspace, blocks_are_aligned_and_reused)
{
	void *a = msd_workspace_alloc(MSD_DEV_CPU, 0, 1000, 2, 32);
	void *b = msd_workspace_alloc(MSD_DEV_CPU, 0, 1000, 2, 32);

	cr_assert_eq((uintptr_t)a % MSD_TENSOR_ALIGN, 0);
	cr_assert_neq(a, b);
	memset(a, 1, 1000);
	(void)msd_workspace_free(MSD_DEV_CPU, 0, b);
	(void)msd_workspace_free(MSD_DEV_CPU, 0, a);
	cr_assert_eq(msd_workspace_alloc(MSD_DEV_CPU, 0, 1000, 2, 32), a);
	(void)msd_workspace_free(MSD_DEV_CPU, 0, a);
}

Test(workspace, keeps_a_bounded_number_of_blocks)
{
	void *p[100];
	size_t n_kept = 0;

	for (size_t i = 0; i < 100; i++)
		p[i] = msd_workspace_alloc(MSD_DEV_CPU, 0, 1000, 2, 32);
	for (size_t i = 0; i < 100; i++)
		(void)msd_workspace_free(MSD_DEV_CPU, 0, p[i]);
	for (; n_kept < 100; n_kept++) { /* what needs no allocation was kept */
		msd_fail_alloc(0);
		p[n_kept] = msd_workspace_alloc(MSD_DEV_CPU, 0, 1000, 2, 32);
		if (msd_fail_alloc_stop())
			break;
	}
	cr_expect_gt(n_kept, 0);
	cr_expect_leq(n_kept, 32);
	while (n_kept-- > 0)
		(void)msd_workspace_free(MSD_DEV_CPU, 0, p[n_kept]);
}

Test(workspace, other_device_and_absurd_size_are_errors)
{
	cr_assert_null(msd_workspace_alloc(MSD_DEV_CUDA, 1, 64, 2, 32));
	expect_error(MSD_UNSUPPORTED,
		     "workspace: device cuda:1: this module was not placed there");
	cr_assert_null(msd_workspace_alloc(MSD_DEV_CPU, 0, UINT64_MAX, 2, 32));
	expect_error(MSD_NOMEM,
		     "no memory for a workspace of 18446744073709551615 bytes");
}

Test(half, every_half_survives_a_round_trip)
{
	for (uint32_t h = 0; h < 0x10000; h++) {
		float f = msd_half_to_float((uint16_t)h);
		uint16_t back = msd_half_from_float(f);
		if (isnan(f)) {
			cr_assert((back & 0x7fff) > 0x7c00);
		} else {
			cr_assert_eq(back, h, "%04x became %04x", h, back);
		}
	}
}

Test(half, rounds_to_nearest_even)
{
	cr_expect_eq(msd_half_from_float(1.0f + 0x1p-11f), 0x3c00);
	cr_expect_eq(msd_half_from_float(1.0f + 3 * 0x1p-11f), 0x3c02);
	cr_expect_eq(msd_half_from_float(65519.0f), 0x7bff);
	cr_expect_eq(msd_half_from_float(65520.0f), 0x7c00);
	cr_expect_eq(msd_half_from_float(0x1p-25f), 0x0000);
	cr_expect_eq(msd_half_from_float(0x1.8p-25f), 0x0001);
	cr_expect_eq(msd_half_from_double(1.0 + 0x1p-11 + 0x1p-40), 0x3c01);
	cr_expect_eq(msd_half_from_float(-0.0f), 0x8000);
}

Test(slots, known_names_have_functions)
{
	cr_expect_not_null(msd_slot_value("__TVMFuncCall"));
	cr_expect_not_null(msd_slot_value("__TVMFFIHandleInitOnce"));
	cr_expect_null(msd_slot_value("__TVMBackendFutureThing"));
	cr_expect(msd_slot_is_name("__TVMBackendFutureThing"));
	cr_expect_not(msd_slot_is_name("__tvm_module_ctx"));
}

Test(syslib, collects_only_while_asked)
{
	struct msd_syslib t = {0};
	int x;

	(void)msd_syslib_register("early", &x);
	msd_syslib_collect(&t);
	(void)msd_syslib_register("one", &x);
	msd_syslib_collect(NULL);
	(void)msd_syslib_register("late", &x);
	cr_assert_eq(t.n, 1);
	cr_assert_str_eq(t.symbols[0].name, "one");
	msd_syslib_finish(&t);
}

static int n_inits;

static int init_ok(void **ret)
{
	n_inits++;
	*ret = &n_inits;
	return 0;
}

static int init_nothing(void **ret)
{
	(void)ret;
	return 0;
}

Test(handle, is_initialised_once)
{
	void *handle = NULL;

	cr_assert_eq(msd_ffi_handle_init_once(&handle, init_ok), 0);
	cr_assert_eq(msd_ffi_handle_init_once(&handle, init_ok), 0);
	cr_assert_eq(n_inits, 1);
	cr_assert_eq(handle, &n_inits);
}

Test(handle, initialiser_without_result_is_an_error)
{
	void *handle = NULL;

	cr_assert_eq(msd_ffi_handle_init_once(&handle, init_nothing), -1);
	cr_assert_null(handle);
	msd_abi_clear();
}

Test(list, moves_borrows_and_resets)
{
	struct msd_str *s = msd_str_new("x", 1, MSD_T_STR);
	struct msd_any list[2] = {{0}};
	struct msd_any args[2] = {msd_of_obj(&s->obj)};

	cr_assert_eq(msd_list_move(list, 1, args, NULL, 0), 0);
	cr_assert_eq(args[0].type, MSD_T_NONE);
	cr_assert_eq(msd_list_set_arg(list, 1, args, (void *)(intptr_t)1, 0), 0);
	cr_assert_eq(args[1].as.obj, &s->obj);
	cr_assert_eq(msd_list_reset(list, 1), 0);
	cr_assert_eq(list[1].type, MSD_T_NONE);
}

/* Tensors and other objects go through classic code, which passes them on. */
Test(list, classic_code_passes_objects_on)
{
	const int64_t three = 3;
	struct msd_tensor *t =
		msd_tensor_new((struct msd_dtype){MSD_DT_FLOAT, 32, 1}, &three, 1);
	struct msd_str *s = msd_str_new("x", 1, MSD_T_STR);
	struct msd_any items[3] = {msd_of_obj(&t->obj), msd_of_obj(&s->obj)};
	void *list = msd_list_handle(items, MSD_LIST_CLASSIC);
	union msd_classic_value values[2];
	int codes[2];

	cr_assert_eq(msd_list_set_arg(list, 0, values, codes, 1), 0);
	cr_assert_eq(codes[1], MSD_C_NDARRAY);
	cr_assert_eq(values[1].p, &t->dl);
	cr_assert_eq(msd_list_move(list, 2, values, codes, 1), 0);
	cr_assert_eq(items[2].as.obj, &t->obj);
	cr_assert_eq(msd_list_set_arg(list, 1, values, codes, 0), 0);
	cr_assert_eq(codes[0], MSD_C_STR);
	for (int i = 0; i < 3; i++)
		cr_assert_eq(msd_list_reset(list, i), 0);
}

Test(list, code_of_021_sees_its_own_tensors)
{
	const int64_t three = 3;
	struct msd_tensor *t =
		msd_tensor_new((struct msd_dtype){MSD_DT_FLOAT, 32, 1}, &three, 1);
	struct msd_any items[2] = {msd_of_obj(&t->obj)};
	void *list = msd_list_handle(items, MSD_LIST_FFI_021);
	struct msd_any args[1];

	cr_assert_eq(msd_list_set_arg(list, 0, args, NULL, 0), 0);
	cr_assert_eq(args[0].type, 72);
	cr_assert_eq((char *)args[0].as.p + 16, (char *)&t->dl);
	items[0] = msd_none(); /* the argument is the owner now */
	cr_assert_eq(msd_list_move(list, 1, args, NULL, 0), 0);
	cr_assert_eq(items[1].type, MSD_T_TENSOR);
	cr_assert_eq(items[1].as.obj, &t->obj);
	cr_assert_eq(msd_list_reset(list, 1), 0);
}
