"""refusing.py landlock|seccomp PROGRAM WORD...: runs the program on a kernel without that."""
import ctypes
import errno
import os
import sys

ALLOW, ERRNO = 0x7FFF0000, 0x00050000
PR_SET_SECCOMP = 22
EQUAL = 4


class Compare(ctypes.Structure):
    _fields_ = [("arg", ctypes.c_uint), ("op", ctypes.c_int), ("a", ctypes.c_uint64),
                ("b", ctypes.c_uint64)]


def refuse(what):
    lib = ctypes.CDLL("libseccomp.so.2")
    lib.seccomp_init.restype = ctypes.c_void_p
    f = ctypes.c_void_p(lib.seccomp_init(ctypes.c_uint32(ALLOW)))

    def no(call, error, *compare):
        number = lib.seccomp_syscall_resolve_name(call)
        action = ctypes.c_uint32(ERRNO | error)
        assert lib.seccomp_rule_add_array(f, action, number, len(compare), *compare) == 0, call

    if what == "landlock":
        no(b"landlock_create_ruleset", errno.ENOSYS)
    else:
        no(b"seccomp", errno.ENOSYS)
        no(b"prctl", errno.EINVAL, ctypes.byref(Compare(0, EQUAL, PR_SET_SECCOMP, 0)))
    assert lib.seccomp_load(f) == 0


refuse(sys.argv[1])
os.execv(sys.argv[2], sys.argv[2:])
