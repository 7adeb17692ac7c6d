"""A library that makes writes to some files fail or end early, preloaded into a command where a C compiler is found."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

_SOURCE = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* whether a descriptor is a file whose path has PUCLI_FAULT_PATH in it, and writes to it are to fail or be cut */
static int met(int fd, const char *kind)
{
    char link[64], path[4096];
    const char *part = getenv("PUCLI_FAULT_PATH"), *wanted = getenv("PUCLI_FAULT");
    if (!part || !wanted || strcmp(wanted, kind)) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length <= 0) return 0;
    path[length] = 0;
    return strstr(path, part) != NULL;
}

ssize_t write(int fd, const void *buffer, size_t count)
{
    ssize_t (*next)(int, const void *, size_t) = dlsym(RTLD_NEXT, "write");
    if (met(fd, "EIO")) { errno = EIO; return -1; }
    return next(fd, buffer, met(fd, "short") && count > 1 ? count / 2 : count);
}

ssize_t pwrite64(int fd, const void *buffer, size_t count, off64_t offset)
{
    ssize_t (*next)(int, const void *, size_t, off64_t) = dlsym(RTLD_NEXT, "pwrite64");
    if (met(fd, "EIO")) { errno = EIO; return -1; }
    return next(fd, buffer, met(fd, "short") && count > 1 ? count / 2 : count, offset);
}
"""


def faulty_writes(folder: Path) -> Path | None:
    """Return a library that injects faults into writes, made in a folder; None where it cannot be made."""
    compiler = shutil.which("cc")
    if compiler is None:
        return None
    source, library = folder / "faulty.c", folder / "faulty.so"
    source.write_text(_SOURCE)
    made = subprocess.run([compiler, "-shared", "-fPIC", "-o", str(library), str(source), "-ldl"], capture_output=True)
    return library if made.returncode == 0 else None


def environment(library: Path, kind: str, part: str) -> dict[str, str]:
    """Return the environment in which writes to files with `part` in their path have a fault of this kind."""
    return {"LD_PRELOAD": str(library), "PUCLI_FAULT": kind, "PUCLI_FAULT_PATH": part}
