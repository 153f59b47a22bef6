/* Objects that a peer holds, without a worker. */
#include <criterion/criterion.h>
#include <string.h>

#include "daemon/limits.h"
#include "daemon/worker/objects/held_objects.h"
#include "daemon/worker/worker.h"
#include "runtime/value/function.h"
#include "runtime/value/types.h"
#include "tests/support/fail_alloc.h"

static struct msd_worker worker;
static struct msd_peer peer;
static struct msd_arena arena;
static struct msd_call call;
static int n_alive;

static void begin(void)
{
	memset(&peer, 0, sizeof(peer));
	memset(&arena, 0, sizeof(arena));
	peer.worker = &worker;
	cr_assert_gt(msd_type_info(MSD_T_FUNCTION)->type,
		     0); /* the table of types exists */
	msd_handles_init(&peer.objects, MSD_MAX_HELD_OBJECTS);
	call = (struct msd_call){.peer = &peer, .arena = &arena};
}

static void end(void)
{
	msd_held_objects_finish(&peer.objects);
	msd_arena_finish(&arena);
	msd_arena_finish(&worker.arena);
	memset(&worker, 0, sizeof(worker));
}

static void gone(void *self)
{
	(void)self;
	n_alive--;
}

static int seven(void *self, const struct msd_any *args, int32_t n, struct msd_any *ret)
{
	(void)self, (void)args, (void)n;
	*ret = msd_int(7);
	return 0;
}

static struct msd_obj *make(void)
{
	struct msd_function *fn = msd_function_new(NULL, seven, gone);

	cr_assert_not_null(fn);
	n_alive++;
	return &fn->obj;
}

/* Give the peer @obj; its handle. */
static struct msd_handle give(struct msd_obj *obj)
{
	struct msd_buf out = {0};
	struct msd_wire_value v;

	cr_assert_eq(msd_held_objects_give(&call, obj, &out, NULL), MSD_OK);
	struct msd_cur c = msd_cur_of((struct msd_span){out.p, out.n});
	cr_assert_eq(msd_value_read(&c, &v, NULL), MSD_OK);
	cr_assert_eq(v.kind, MSD_K_OBJECT);
	msd_buf_finish(&out);
	return v.as.object.handle;
}

Test(held_objects, every_failing_allocation_leaves_the_object_to_its_owner)
{
	bool has_failed = true;
	long k = 0;

	for (; has_failed; k++) {
		struct msd_buf out = {0};
		begin();
		struct msd_obj *obj = make();
		msd_fail_alloc(k);
		const msd_err err = msd_held_objects_give(&call, obj, &out, NULL);
		has_failed = msd_fail_alloc_stop();
		cr_expect_eq(err != MSD_OK || out.bad, has_failed, "%ld", k);
		msd_held_objects_take_back(&call);
		cr_expect_eq(peer.objects.n_live, 0);
		msd_obj_unref(obj);
		cr_expect_eq(n_alive, 0);
		msd_buf_finish(&out);
		end();
	}
	cr_expect_gt(k, 3, "arena, table and reply");
}

Test(held_objects, compiled_code_takes_no_object_and_typed_code_does, .init = begin,
     .fini = end)
{
	struct msd_obj *obj = make(), *got;
	const struct msd_handle h = give(obj);
	struct msd_diag d = {0};

	cr_expect_eq(msd_held_objects_use(&call, h, &got, &d), MSD_BAD_ARGUMENT);
	cr_expect_not_null(strstr(msd_diag_text(&d), "an object of type ffi.Function"));
	msd_diag_finish(&d);
	call.wants_objects = true;
	cr_expect_eq(msd_held_objects_use(&call, h, &got, NULL), MSD_OK);
	cr_expect_eq(got, obj);
	msd_obj_unref(obj);
}

Test(held_objects, a_function_object_is_called_also_without_memory, .init = begin,
     .fini = end)
{
	struct msd_obj *obj = make();
	const struct msd_handle h = give(obj);
	struct msd_any ret = msd_none();
	struct msd_function *fn;

	obj->pad = 0; /* as of a library */
	msd_fail_alloc(0);
	cr_expect_eq(msd_held_objects_function(&peer, h, &fn, NULL), MSD_NOMEM);
	cr_expect(msd_fail_alloc_stop());
	cr_assert_eq(msd_held_objects_function(&peer, h, &fn, NULL), MSD_OK);
	cr_expect_eq(fn->call(fn, NULL, 0, &ret), 0);
	cr_expect_eq(ret.as.i, 7);
	msd_obj_unref(obj);
}

Test(held_objects, a_handle_is_stale_after_its_object, .init = begin, .fini = end)
{
	struct msd_obj *obj = make(), *got;
	const struct msd_handle h = give(obj);
	struct msd_function *fn;

	msd_obj_unref(obj);
	msd_held_objects_take_back(&call);
	cr_expect_eq(n_alive, 0);
	call.wants_objects = true;
	cr_expect_eq(msd_held_objects_use(&call, h, &got, NULL), MSD_STALE_HANDLE);
	cr_expect_eq(msd_held_objects_function(&peer, h, &fn, NULL), MSD_STALE_HANDLE);
}
