#ifndef TESTS_ARTIFACT_EMBED_H
#define TESTS_ARTIFACT_EMBED_H
/* The file BLOB_FILE as the object @symbol of a library. */
#define EMBED(symbol)                                                                  \
	__asm__(".section .rodata\n"                                                   \
		".globl " #symbol "\n"                                                 \
		".type " #symbol ", @object\n" #symbol ":\n"                           \
		".incbin \"" BLOB_FILE "\"\n"                                          \
		".size " #symbol ", .-" #symbol "\n"                                   \
		".previous\n")

#endif
