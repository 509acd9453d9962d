"""The command over a C library that a module of tests/faults stands in front of, and the library in this process."""

import ctypes
import os
import subprocess

from conftest import BINARY, BUILD, PATIENCE


def preloaded(module, *arguments, input=b"", timeout=PATIENCE, stderr=subprocess.PIPE, **settings):
    """Runs the command to its end, with a module configured by these environment variables."""
    environment = {**os.environ, **{name: str(value) for name, value in settings.items()},
                   "LD_PRELOAD": str(BUILD / "tests" / f"{module}.so")}
    return subprocess.run([BINARY, *map(str, arguments)], input=input, env=environment,
                          stdout=subprocess.PIPE, stderr=stderr, timeout=timeout)


class Library:
    """libwordtide in this process: trainers read from files."""

    def __init__(self):
        self.calls = ctypes.CDLL(str(BUILD / "src" / "libwordtide.so"))
        for name in ("load", "recover", "model"):
            getattr(self.calls, f"tide_trainer_{name}").restype = ctypes.c_void_p
        self.calls.tide_model_tokens.restype = ctypes.c_uint64
        self.error = ctypes.create_string_buffer(4096)

    def tokens(self, trainer):
        """How much text a trainer has seen; None for no trainer."""
        if not trainer:
            return None
        trainer = ctypes.c_void_p(trainer)
        model = ctypes.c_void_p(self.calls.tide_trainer_model(trainer))
        count = self.calls.tide_model_tokens(model)
        self.calls.tide_trainer_free(trainer)
        return count

    def load(self, path):
        return self.tokens(self.calls.tide_trainer_load(
            os.fsencode(path), None, ctypes.c_size_t(0), self.error))

    def recover(self, path):
        return self.tokens(self.calls.tide_trainer_recover(
            os.fsencode(path), None, ctypes.c_size_t(0), None, None, self.error))
