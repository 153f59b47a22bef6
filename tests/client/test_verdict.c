#include <criterion/criterion.h>
#include <string.h>

#include "client/cli/doctor/verdict.h"

#define TEXT(literal) ((char *)(uintptr_t)(literal)) /* nobody writes to it */

/* Values as a daemon's answer holds them; what they point to is the caller's. */
static modser_value text(const char *s)
{
	return modser_str(s);
}

static modser_value list(modser_value *items, size_t n)
{
	modser_value v = {.kind = MODSER_TUPLE};

	v.as.tuple.item = items;
	v.as.tuple.n = n;
	return v;
}

static modser_value map(modser_value *pairs, size_t n)
{
	modser_value v = list(pairs, n);

	v.kind = MODSER_MAP;
	return v;
}

/* A module of CUDA code beside the library. */
struct sample {
	struct msd_gpu_image image;
	struct msd_inspect_module modules[2];
	struct msd_inspect in;
};

static void sample_init(struct sample *s)
{
	*s = (struct sample){
		.image = {.kind = MSD_GPU_CUBIN, .arch = {80, 0}},
		.modules = {{.kind = TEXT("_lib")}, {.kind = TEXT("cuda")}},
		.in = {.era = MSD_ERA_FFI, .machine = TEXT("x86-64"), .n_modules = 2},
	};
	s->in.modules = s->modules;
	s->modules[1].gpu = (struct msd_gpu_code){.images = &s->image, .n_images = 1};
}

/* The reasons by a daemon whose only device has @capability; NULL: it has none. */
static void expect_reasons(const struct sample *s, const char *capability,
			   const char *expected)
{
	modser_value device[] = {text("device"), text("cuda:0"), text("capability"),
				 text(capability != NULL ? capability : "")};
	modser_value devices[] = {map(device, 2)};
	modser_value kinds[] = {text("_lib"), text("cuda")};
	modser_value symbols[] = {text("TVMFuncCall")};
	modser_value packed[] = {text("vm.builtin.copy")};
	modser_value info[] = {text("machine"),
			       text("x86-64"),
			       text("kinds"),
			       list(kinds, 2),
			       text("symbols"),
			       list(symbols, 1),
			       text("slots"),
			       list(NULL, 0),
			       text("devices"),
			       list(devices, capability != NULL ? 1 : 0),
			       text("packed_functions"),
			       list(packed, 1)};
	const modser_value answer = map(info, 6);
	struct msd_verdict v = {0};

	cr_assert_eq(msd_verdict_find(&s->in, &answer, NULL, true, &v, NULL), MSD_OK);
	msd_buf_put_u8(&v.reasons, '\0');
	cr_expect_str_eq((char *)v.reasons.p, expected);
	msd_verdict_finish(&v);
}

Test(verdict, device_code_wants_a_device_that_takes_it)
{
	struct sample s;

	sample_init(&s);
	expect_reasons(&s, "8.6", "");
	expect_reasons(&s, "9.0",
		       "module 1 (cuda): its code is for sm_80; cuda:0 is 9.0\n");
	expect_reasons(&s, "nonsense",
		       "module 1 (cuda): its code is for sm_80; cuda:0 is nonsense\n");
	expect_reasons(&s, NULL,
		       "module 1 (cuda): the daemon has no device of this kind\n");
	s.image.kind = MSD_GPU_PTX;
	expect_reasons(&s, "9.0", "");
	expect_reasons(&s, "7.5",
		       "module 1 (cuda): its code is for compute_80; cuda:0 is 7.5\n");
	s.modules[1].gpu.n_images = 0; /* source */
	expect_reasons(&s, "7.5", "");
}

Test(verdict, what_is_missing_is_named)
{
	char *undefined[] = {TEXT("TVMFuncCall"), TEXT("gone"), TEXT("expf")};
	char *providers[] = {TEXT("modserd"), NULL, TEXT("libm.so.6")};
	char *slots[] = {TEXT("__TVMUnheardOf")};
	char *needs[] = {TEXT("vm.builtin.copy"), TEXT("vm.builtin.kv_cache")};
	struct sample s;

	sample_init(&s);
	s.in.machine = TEXT("aarch64");
	s.in.needs_neighbours = true;
	s.in.missing = "libextra.so";
	s.in.undefined = undefined;
	s.in.providers = providers;
	s.in.n_undefined = 3;
	s.in.is_resolved = true;
	s.in.unknown_slots = slots;
	s.in.n_unknown_slots = 1;
	s.modules[0].model.needs = needs;
	s.modules[0].model.n_needs = 2;
	s.modules[1].kind = TEXT("vulkan");
	expect_reasons(
		&s, "9.0",
		"it is for aarch64, the daemon's machine is x86-64\n"
		"it searches libraries in its own folder ($ORIGIN), which is empty "
		"at a daemon; set another with `patchelf --set-rpath "
		"/FOLDER`\n"
		"no library provides the symbol gone\n"
		"no module sets the global pointer __TVMUnheardOf\n"
		"module 0 (_lib): no module has the function vm.builtin.kv_cache\n"
		"module 1 (vulkan): the daemon does not run this kind\n");
}

Test(verdict, constants_that_are_bound_later_want_their_file)
{
	char *late[] = {TEXT("const_1"), TEXT("const_2")};
	struct sample s;

	sample_init(&s);
	s.in.n_modules = 1;
	s.modules[0].model.late = late;
	s.modules[0].model.n_late = 2;
	expect_reasons(&s, NULL,
		       "module 0 (_lib): its constants are bound later: load it with "
		       "--params FILE, which has const_1, const_2\n");
}

Test(verdict, a_daemon_that_does_not_say_is_no_answer)
{
	modser_value info[] = {text("machine"), text("x86-64")};
	const modser_value answer = map(info, 1);
	struct msd_verdict v = {0};
	struct msd_diag d = {0};
	struct sample s;

	sample_init(&s);
	cr_expect_eq(msd_verdict_find(&s.in, &answer, NULL, true, &v, &d),
		     MSD_UNSUPPORTED);
	cr_expect(strstr(msd_diag_text(&d), "does not report what it can run") != NULL);
	msd_diag_finish(&d);
	msd_verdict_finish(&v);
}

Test(verdict, text_and_json_say_the_same)
{
	struct msd_verdict v = {0};
	struct msd_buf out = {0};

	msd_buf_printf(&v.reasons, "one\ntwo\n");
	msd_buf_printf(&v.unknown, "three\n");
	msd_verdict_text(&v, "tcp://h:1", &out);
	msd_verdict_json(&v, &out);
	msd_buf_put_u8(&out, '\0');
	cr_expect_str_eq((char *)out.p,
			 "tcp://h:1 will not run it\n  one\n  two\n  not known: three\n"
			 "{\"will_run\":false,\"reasons\":[\"one\",\"two\"],"
			 "\"unknown\":[\"three\"]}\n");
	msd_buf_finish(&out);
	msd_verdict_finish(&v);
}
