#include "runtime/library/stand_in.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "artifact/elf/elf.h"

#define NAME "libtvm_ffi.so"

/* All of the library: it has its name and no symbol. */
static struct image {
	ElfW(Ehdr) head;
	ElfW(Phdr) segments[3];
	ElfW(Dyn) dynamic[7];
	ElfW(Sym) none;
	uint32_t hash[4]; /* 1 bucket, 1 chain, both empty */
	char names[1 + sizeof(NAME)];
} image = {
	.head = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
			     ELFDATA2LSB, EV_CURRENT},
		 .e_type = ET_DYN,
		 .e_version = EV_CURRENT,
		 .e_phoff = offsetof(struct image, segments),
		 .e_ehsize = sizeof(ElfW(Ehdr)),
		 .e_phentsize = sizeof(ElfW(Phdr)),
		 .e_phnum = 3,
		 .e_shentsize = sizeof(ElfW(Shdr))},
	.segments = {{.p_type = PT_LOAD,
		      .p_flags = PF_R | PF_W, /* the loader relocates the table */
		      .p_filesz = sizeof(struct image),
		      .p_memsz = sizeof(struct image),
		      .p_align = 0x10000},
		     {.p_type = PT_DYNAMIC,
		      .p_flags = PF_R | PF_W,
		      .p_offset = offsetof(struct image, dynamic),
		      .p_vaddr = offsetof(struct image, dynamic),
		      .p_filesz = 7 * sizeof(ElfW(Dyn)),
		      .p_memsz = 7 * sizeof(ElfW(Dyn)),
		      .p_align = 8},
		     {.p_type = PT_GNU_STACK, .p_flags = PF_R | PF_W}},
	.dynamic = {{.d_tag = DT_SONAME, .d_un.d_val = 1},
		    {.d_tag = DT_HASH, .d_un.d_ptr = offsetof(struct image, hash)},
		    {.d_tag = DT_STRTAB, .d_un.d_ptr = offsetof(struct image, names)},
		    {.d_tag = DT_SYMTAB, .d_un.d_ptr = offsetof(struct image, none)},
		    {.d_tag = DT_STRSZ, .d_un.d_val = 1 + sizeof(NAME)},
		    {.d_tag = DT_SYMENT, .d_un.d_val = sizeof(ElfW(Sym))},
		    {.d_tag = DT_NULL}},
	.hash = {1, 1, 0, 0},
	.names = "\0" NAME,
};

static void *handle;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void open_image(void)
{
	char name[32];
	const int fd = memfd_create("modserd-" NAME, MFD_CLOEXEC);

	if (fd < 0)
		return;
	image.head.e_machine = msd_elf_host_machine();
	(void)snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	if (write(fd, &image, sizeof(image)) == (ssize_t)sizeof(image))
		handle = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
	if (handle == NULL) /* else it stays open: its number is the mapping's name */
		(void)close(fd);
}

bool msd_stand_in_is(const char *name)
{
	return strcmp(name, NAME) == 0;
}

bool msd_stand_in_open(void)
{
	(void)pthread_once(&once, open_image);
	return handle != NULL;
}
