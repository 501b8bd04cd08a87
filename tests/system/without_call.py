"""A kernel without a call, for everything below: a filter that answers it with an errno.

usage: without_call.py NAME FIRST_ARGUMENT ERRNO COMMAND [ARGUMENT]...
"""
import ctypes
import os
import struct
import sys

NUMBERS = {"x86_64": {"seccomp": 317, "landlock_create_ruleset": 444, "move_mount": 429},
           "aarch64": {"seccomp": 277, "landlock_create_ruleset": 444, "move_mount": 429}}
ENOSYS = 38


def without_call(name, first_argument=-1, answer=ENOSYS):
    """The words to put before a command. With `first_argument` only calls that have it are answered so."""
    return [sys.executable, os.path.abspath(__file__), name, str(first_argument), str(answer)]


def install(number, first_argument, answer):
    def operation(code, when_true, when_false, operand):
        return struct.pack("HBBI", code, when_true, when_false, operand)

    filtered = first_argument >= 0
    operations = [operation(0x20, 0, 0, 0), operation(0x15, 0, 3 if filtered else 1, number)]
    if filtered:
        operations += [operation(0x20, 0, 0, 16), operation(0x15, 0, 1, first_argument)]
    operations += [operation(0x06, 0, 0, 0x50000 | answer), operation(0x06, 0, 0, 0x7fff0000)]
    code = ctypes.create_string_buffer(b"".join(operations))

    class Program(ctypes.Structure):
        _fields_ = [("len", ctypes.c_ushort), ("filter", ctypes.c_void_p)]

    program = Program(len(operations), ctypes.addressof(code))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(38, 1, 0, 0, 0) != 0 or libc.prctl(22, 2, ctypes.byref(program), 0, 0) != 0:
        sys.exit("the filter cannot be installed")


if __name__ == "__main__":
    install(NUMBERS[os.uname().machine][sys.argv[1]], int(sys.argv[2]), int(sys.argv[3]))
    os.execvp(sys.argv[4], sys.argv[4:])
